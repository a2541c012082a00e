import { urlOf } from '../config.ts';
import { parseJsonObject } from './encoding.ts';
import { httpRequest } from './http-request.ts';
import { PolicyError } from '../errors.ts';
import { bytesOfJwk } from './public-key.ts';
import type { KeySource } from './signing-keys.ts';

/** The service's published keys: its public keys by kid, and the successions between them (docs/policy.md, "Trust"). */
export type KeySet = { keys: ReadonlyMap<string, Uint8Array>; successions: readonly string[] };

/** Fetches the key set, bypassing any cache on the way. Throws a PolicyError without at least one key. */
export async function fetchKeySet({ baseUrl, timeoutMs }: Omit<KeySource, 'trusted'>): Promise<KeySet> {
  const url = urlOf(baseUrl, '/v1/.well-known/keys');
  const { status, text } = await httpRequest({ url, headers: { 'Cache-Control': 'no-cache' }, timeoutMs });
  if (status === 200) return parseKeySet(text);
  const message = `The request for the key set was answered with ${status}`;
  throw new PolicyError('key_set_unavailable', message, { status });
}

function parseKeySet(text: string): KeySet {
  const set = parseJsonObject(text, { code: 'key_set_invalid', what: 'The key set' });
  const keys = new Map<string, Uint8Array>();
  for (const jwk of listOf(set['keys'])) {
    const bytes = bytesOfJwk(jwk);
    const { kid } = (jwk ?? {}) as { kid?: unknown };
    if (bytes && typeof kid === 'string') keys.set(kid, bytes);
  }
  if (keys.size === 0) throw new PolicyError('key_set_invalid', 'The key set has no Ed25519 key');
  const successions = listOf(set['successions']).filter((item) => typeof item === 'string');
  return { keys, successions };
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
