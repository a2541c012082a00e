import { TIMER_MS_MAX } from './limits.ts';
import type { Logger } from './logger.ts';

const TRUTHY = new Set(['1', 'true', 'yes', 'on']);
export const BASE_URL_DEFAULT = 'http://localhost:8000';

/** Reads the GATE_ variables; the only place that reads the environment. An unset or empty variable is undefined. */
export function readEnvironment() {
  const read = (name: string): string | undefined => process.env[name]?.trim() || undefined;
  return {
    apiKey: read('GATE_API_KEY'),
    policyKey: read('GATE_KEY'),
    localPolicy: read('GATE_LOCAL_POLICY'),
    publicKey: read('GATE_PUBLIC_KEY'),
    requireSignature: isTruthy(read('GATE_BUNDLE_REQUIRE_SIGNATURE')),
    baseUrl: read('GATE_BASE_URL'),
    stateDir: read('GATE_STATE_DIR'),
  };
}

let lastLocalMode: boolean | undefined;

/** Throws only at its first use: Deno may withdraw the permission to read the environment later, and then the last value counts. */
export function isLocalMode(): boolean {
  try {
    lastLocalMode = isTruthy(process.env['GATE_LOCAL_MODE']?.trim());
  } catch (error) {
    if (lastLocalMode === undefined) throw error;
  }
  return lastLocalMode;
}

/** 1, true, yes and on are true, in any case. */
function isTruthy(text: string | undefined): boolean {
  return text !== undefined && TRUTHY.has(text.toLowerCase());
}

/** A timeout that setTimeout can take: whole milliseconds within its range. */
export function timerMs(timeoutMs: number): number {
  return Math.trunc(Math.min(Math.max(timeoutMs, 0), TIMER_MS_MAX));
}

/** The base URL may end in slashes. */
export function urlOf(baseUrl: string, path: string): string {
  return baseUrl.replace(/\/+$/, '') + path;
}

let hasWarnedOfBoth = false;

/** Warns once per process when a local policy decides and the decisions are sent to the platform. */
export function warnOfBoth(
  set: { apiKey: string | undefined; localPolicy: string | undefined },
  logger: Logger,
): void {
  if (hasWarnedOfBoth || !set.apiKey || !set.localPolicy) return;
  hasWarnedOfBoth = true;
  logger.warn(
    'GATE_API_KEY and GATE_LOCAL_POLICY are both set: where the local policy decides, its decisions are sent to the platform, except in local mode',
  );
}

const warnedOfPlaintext = new Set<string>();
const LOOPBACK = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Warns once per address when keys, policies and events would cross a network unencrypted. */
export function warnOfPlaintext(baseUrl: string, logger: Logger): void {
  if (!URL.canParse(baseUrl)) return;
  const { protocol, hostname, origin } = new URL(baseUrl);
  if (protocol !== 'http:' || LOOPBACK.test(hostname) || warnedOfPlaintext.has(origin)) return;
  warnedOfPlaintext.add(origin);
  logger.warn(
    'The base URL is not encrypted: anyone on the network path can read the key and the events. Use https',
    {
      base_url: baseUrl,
    },
  );
}
