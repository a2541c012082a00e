import { urlOf } from '../config.ts';
import { KEY_SET_AGE_MS_MAX } from '../limits.ts';
import { bytesOfJwk } from './public-key.ts';
import { parseJsonObject } from './encoding.ts';
import { httpGet } from './http-get.ts';
import { PolicyError } from '../errors.ts';

/** The service's public keys by kid. Plain data, so that it can be sent to a worker. */
export type KeySet = { keys: ReadonlyMap<string, Uint8Array>; fetchedAtMs: number };

export type KeySource = {
  baseUrl: string;
  timeoutMs: number;
  pinned: Uint8Array | undefined;
  keySet: KeySet | undefined;
};

export type KeySetDeps = {
  now: () => number;
  /** Called with every fetched set, so that it is cached even if a later step fails. */
  onKeySet?: (keySet: KeySet) => void;
};

/** Finds public keys: the pinned one if there is one, else in the key set, which is fetched when needed. */
export class PublicKeys {
  readonly #source: KeySource;
  readonly #deps: KeySetDeps;
  #keySet: KeySet | undefined;

  constructor(source: KeySource, deps: KeySetDeps) {
    this.#source = source;
    this.#deps = deps;
    this.#keySet = source.keySet;
  }

  get keySet(): KeySet | undefined {
    return this.#keySet;
  }

  /** The key with this kid. Fetches the set once more before it throws for an unknown kid. */
  async find(kid: string): Promise<Uint8Array> {
    if (this.#source.pinned) return this.#source.pinned;
    if (!this.#keySet || this.#deps.now() - this.#keySet.fetchedAtMs >= KEY_SET_AGE_MS_MAX)
      await this.#fetch();
    if (!this.#keySet?.keys.has(kid)) await this.#fetch();
    const key = this.#keySet?.keys.get(kid);
    if (key) return key;
    throw new PolicyError('signing_key_unknown', 'The service publishes no signing key with this kid');
  }

  async #fetch(): Promise<void> {
    const { baseUrl, timeoutMs } = this.#source;
    const { status, text } = await httpGet({ url: urlOf(baseUrl, '/v1/.well-known/keys'), timeoutMs });
    if (status !== 200)
      throw new PolicyError(
        'key_set_unavailable',
        `The request for the key set was answered with ${status}`,
        { status },
      );
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
  const { keys } = parseJsonObject(text, { code: 'key_set_invalid', what: 'The key set' });
  if (Array.isArray(keys)) return keys as object[];
  throw new PolicyError('key_set_invalid', 'The key set has no list of keys');
}
