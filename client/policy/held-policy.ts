import { PolicyError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { parseBearerKey } from './bearer-key.ts';
import { engineFromYaml } from './engine.ts';
import type { PolicySource } from './policy-source.ts';
import type { Pulled } from './pull.ts';
import type { Trust } from './trust.ts';
import { VersionFloor } from './version-floor.ts';
import { createWasmEngine } from './wasm-engine.ts';

export type PlatformOptions = {
  agentName: string;
  bearerKey: string;
  baseUrl: string;
  timeoutMs: number;
  trust: Trust;
  requireSignature: boolean;
  /** Where the smallest version that may be installed is kept. */
  stateDir: string | undefined;
  logger: Logger;
  now: () => number;
};

/** When a bundle expires, and from when on the client asks for a later signature without a condition, because its ETag stays the same. */
type Expiry = { expiresAtMs: number; askAtMs: number };

/** The state of a source: replaced as a whole, and only by a verified policy. */
export type HeldPolicy = Omit<PolicySource, 'refresh' | 'refreshSync'> &
  Readonly<{
    version: number | undefined;
    kid?: string;
    wasmHash?: string;
    expiry?: Expiry | undefined;
  }>;

type Fresh = Pulled & { kind: 'fresh' };

/** The policy of an answer. Throws a PolicyError if it lacks a required signature or cannot be used. */
export function heldFrom(options: PlatformOptions, { record, etag, signed }: Fresh): HeldPolicy {
  if (signed) {
    const { module, kid, version, wasmHash, agentVersionId, expiresAtMs } = signed;
    const expiry = expiresAtMs === undefined ? undefined : expiryFrom(expiresAtMs, options.now());
    const policy = createWasmEngine(module);
    return Object.freeze({ origin: 'bundle', etag, kid, version, wasmHash, agentVersionId, expiry, policy });
  }
  if (options.requireSignature) {
    throw new PolicyError('bundle_missing', 'The record has no bundle, but a signed bundle is required');
  }
  const policy = engineFromYaml(record.policy_yaml);
  const agentVersionId = record.agent_version_id ?? null;
  // Nothing proves its version, but no older policy may follow it, not even a signed one.
  const { version } = record;
  return Object.freeze({ origin: 'yaml', etag, agentVersionId, version, policy });
}

/** Asks from the middle of the remaining time on. */
function expiryFrom(expiresAtMs: number, nowMs: number): Expiry {
  return { expiresAtMs, askAtMs: nowMs + (expiresAtMs - nowMs) / 2 };
}

/** The checks before a policy takes effect; throws if it must not. */
export function prepare({ agentName, bearerKey, stateDir, logger }: PlatformOptions, held: HeldPolicy): void {
  const { projectId } = parseBearerKey(bearerKey);
  const floor = stateDir === undefined ? undefined : new VersionFloor(stateDir, { projectId, agentName });
  if (held.origin === 'bundle' && held.version !== undefined) return floor?.raise(held.version);
  floor?.refuseUnsigned();
  const message =
    'The policy in force is not signed: whoever answers at the base URL can change it. requireSignature refuses such policies';
  logger.warn(message, { agent_name: agentName });
}
