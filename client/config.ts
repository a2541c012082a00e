import { TIMER_MS_MAX } from './limits.ts';

const TRUTHY = new Set(['1', 'true', 'yes', 'on']);
export const BASE_URL_DEFAULT = 'http://localhost:8000';

/** What the environment says; an absent or empty variable is undefined. */
export type Environment = {
  apiKey: string | undefined;
  policyKey: string | undefined;
  localMode: string | undefined;
  localPolicy: string | undefined;
  publicKey: string | undefined;
  requireSignature: boolean;
  baseUrl: string | undefined;
};

/** Reads every GATE_ variable anew; the only place of the client that looks at the environment. */
export function readEnvironment(env: Record<string, string | undefined> = process.env): Environment {
  const read = (name: string): string | undefined => env[name]?.trim() || undefined;
  return {
    apiKey: read('GATE_API_KEY'),
    policyKey: read('GATE_KEY'),
    localMode: read('GATE_LOCAL_MODE'),
    localPolicy: read('GATE_LOCAL_POLICY'),
    publicKey: read('GATE_PUBLIC_KEY'),
    requireSignature: isTruthy(read('GATE_BUNDLE_REQUIRE_SIGNATURE')),
    baseUrl: read('GATE_BASE_URL'),
  };
}

/** Spec 3: 1, true, yes and on are true in any case; everything else is not. */
export function isTruthy(text: string | undefined): boolean {
  return text !== undefined && TRUTHY.has(text.toLowerCase());
}

/** The time limit that was asked for, as far as there is a timer for it: whole milliseconds. */
export function timerMs(timeoutMs: number): number {
  return Math.trunc(Math.min(Math.max(timeoutMs, 0), TIMER_MS_MAX));
}

/** The address of a path below the base address, whether or not that ends in a slash. */
export function urlOf(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/+$/, '') + path;
}
