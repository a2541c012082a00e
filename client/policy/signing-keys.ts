import { PolicyError } from '../errors.ts';
import { fetchKeySet, type KeySet } from './key-set.ts';
import { followSuccessions, type TrustedKeys } from './successions.ts';

export type KeySource = {
  baseUrl: string;
  timeoutMs: number;
  /** Without trusted keys, the first use trusts all keys that the service publishes. */
  trusted: TrustedKeys | undefined;
};

/** Finds the keys that one pull needs, and collects those that it newly trusts. */
export class SigningKeys {
  readonly #source: KeySource;
  #trusted: TrustedKeys | undefined;
  #fetched: KeySet | undefined;
  /** The keys that a chain of successions led to. */
  readonly successors: string[] = [];

  constructor(source: KeySource) {
    this.#source = source;
    this.#trusted = source.trusted;
  }

  get trusted(): TrustedKeys | undefined {
    return this.#trusted;
  }

  /**
   * The public key with this kid. A key that is not trusted yet is accepted only if freshly fetched successions lead to it from a trusted
   * one; else throws `signing_key_untrusted`. `what` is the subject of the message, as in "The policy".
   */
  async find(kid: string, what: string): Promise<Uint8Array> {
    const trusted = (this.#trusted ??= (await this.#fetch()).keys);
    const key = trusted.get(kid);
    if (key) return key;
    const { successions } = await this.#fetch();
    const chain = await followSuccessions(kid, { trusted, successions });
    const found = chain?.get(kid);
    if (chain === undefined || found === undefined) {
      const held = [...trusted.keys()].join(', ');
      const message = `${what} is signed by the key ${kid}, and no trusted key vouches for it. Trusted: ${held}`;
      throw new PolicyError('signing_key_untrusted', message);
    }
    this.#trusted = new Map([...trusted, ...chain]);
    this.successors.push(kid);
    return found;
  }

  /** Whether the key is the same as the other one, or successions lead to it from there. */
  async isVouchedFor(kid: string, by: string): Promise<boolean> {
    const key = this.#trusted?.get(by);
    if (kid === by || key === undefined) return kid === by;
    const { successions } = await this.#fetch();
    return (await followSuccessions(kid, { trusted: new Map([[by, key]]), successions })) !== undefined;
  }

  /** Once per pull. */
  async #fetch(): Promise<KeySet> {
    return (this.#fetched ??= await fetchKeySet(this.#source));
  }
}
