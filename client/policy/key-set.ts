import { urlOf } from '../config.ts';
import { KEY_SET_AGE_MS_MAX } from '../limits.ts';
import { bytesOfJwk } from './public-key.ts';
import { httpGet } from './http-get.ts';
import { PolicyError } from '../errors.ts';

/** The service's public keys by kid, and when they were fetched; plain data, so that a worker can have it. */
export type KeySet = { keys: ReadonlyMap<string, Uint8Array>; fetchedAtMs: number };

export type KeySource = {
  baseUrl: string;
  timeoutMs: number;
  pinned: Uint8Array | undefined;
  keySet: KeySet | undefined;
};

export type KeySetDeps = {
  now: () => number;
  /** Told of every set that was fetched, so that it is kept even when what follows fails. */
  onKeySet?: (keySet: KeySet) => void;
};

/** Finds public keys: the pinned one always, else those of the key set, fetched when needed. */
export class PublicKeys {
  readonly #source: KeySource;
  readonly #deps: KeySetDeps;
  #keySet: KeySet | undefined;

  constructor(source: KeySource, deps: KeySetDeps) {
    this.#source = source;
    this.#deps = deps;
    this.#keySet = source.keySet;
  }

  /** What was fetched, or the one that was given. */
  get keySet(): KeySet | undefined {
    return this.#keySet;
  }

  /** The key of this kid; an unknown one is looked up once more in a fresh set before it throws. */
  async find(kid: string): Promise<Uint8Array> {
    if (this.#source.pinned) return this.#source.pinned;
    if (!this.#keySet || this.#deps.now() - this.#keySet.fetchedAtMs >= KEY_SET_AGE_MS_MAX)
      await this.#fetch();
    if (!this.#keySet?.keys.has(kid)) await this.#fetch();
    const key = this.#keySet?.keys.get(kid);
    if (key) return key;
    throw new PolicyError('signing_key_unknown', 'The service publishes no signing key of this kid');
  }

  async #fetch(): Promise<void> {
    const { baseUrl, timeoutMs } = this.#source;
    const { status, text } = await httpGet({ url: urlOf(baseUrl, '/v1/.well-known/keys'), timeoutMs });
    if (status !== 200)
      throw new PolicyError('key_set_unavailable', `The key set answered ${status}`, { status });
    this.#keySet = { keys: parseKeySet(text), fetchedAtMs: this.#deps.now() };
    this.#deps.onKeySet?.(this.#keySet);
  }
}

function parseKeySet(text: string): Map<string, Uint8Array> {
  const keys = new Map<string, Uint8Array>();
  for (const jwk of jwksFrom(text)) {
    const bytes = typeof jwk === 'object' && jwk !== null ? bytesOfJwk(jwk) : undefined;
    if (bytes && 'kid' in jwk && typeof jwk.kid === 'string') keys.set(jwk.kid, bytes);
  }
  return keys;
}

function jwksFrom(text: string): object[] {
  try {
    const { keys } = JSON.parse(text) as { keys: unknown };
    if (Array.isArray(keys)) return keys as object[];
  } catch (cause) {
    throw new PolicyError('key_set_invalid', 'The key set is not JSON', { cause });
  }
  throw new PolicyError('key_set_invalid', 'The key set has no list of keys');
}
