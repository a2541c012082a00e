import { createPublicKey, type KeyObject } from 'node:crypto';
import { ROOT_KEYS_AGE_MS_MAX, STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import { append } from '../store/bounded-store.ts';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { PublicJwk, SigningKeys } from './signing-keys.ts';
import { ACKNOWLEDGEMENT, SUCCESSION, type Type, vouch, vouchedKey } from './successions.ts';

/** One rotation of the root key, as it is stored. */
export type Rotation = {
  kid: string;
  previous_kid: string;
  succession: string;
  acknowledgement: string;
  version: number;
};
/** The versions of a rotation: it counts, or one of its two keys was forgotten. */
const COUNTS = 0;
const PREVIOUS_FORGOTTEN = 1;
const NEXT_FORGOTTEN = 2;
/** What `/v1/.well-known/keys` answers. */
export type KeySet = { keys: PublicJwk[]; successions: string[] };

type RootKeysOptions = {
  signing: SigningKeys;
  connection: Connection;
  ready: () => Promise<void>;
  /** No other process rotates the root key of this store. */
  isSoleWriter: boolean;
  now: () => number;
};
type Known = { keys: Map<string, PublicJwk>; successors: Set<string>; successions: string[] };

/**
 * The root key of this process, and the keys before and after it: those of the configuration, and those of the store. The store is not
 * trusted with keys: a key counts only if a chain of signatures leads to it from the root key.
 */
export class RootKeys {
  readonly #options: RootKeysOptions;
  readonly #objects = new Map<string, KeyObject>();
  #known: Known;
  #isComplete = false;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: RootKeysOptions) {
    this.#options = options;
    this.#known = { keys: new Map(configured(options.signing)), successors: new Set(), successions: [] };
  }

  /** The key that signs now. */
  get current(): SigningKeys {
    return this.#options.signing;
  }

  /** All keys that verify, the current one first. `isComplete` is false until the store has been read once. */
  async keySet(): Promise<{ keySet: KeySet; isComplete: boolean }> {
    await this.#refresh();
    const { keys, successions } = this.#known;
    return { keySet: { keys: [...keys.values()], successions }, isComplete: this.#isComplete };
  }

  /** The public key that verifies signatures with this kid, if one is trusted. */
  async find(kid: string): Promise<KeyObject | undefined> {
    if (!this.#known.keys.has(kid)) await this.#refresh();
    const jwk = this.#known.keys.get(kid);
    if (jwk === undefined) return undefined;
    const object = this.#objects.get(kid) ?? createPublicKey({ key: jwk, format: 'jwk' });
    this.#objects.set(kid, object);
    return object;
  }

  /** Whether the current key was replaced by this one, directly or not. */
  async isSuccessor(kid: string): Promise<boolean> {
    await this.#refresh();
    return this.#known.successors.has(kid);
  }

  /** The kids of the keys that replaced the current one: several if rotations ran at the same time. Rejects when the store is away. */
  async successors(): Promise<string[]> {
    const { signing } = this.#options;
    const rotations = await this.rotations();
    const { successors } = await knownFrom(signing, rotations);
    const kids = rotations.filter((one) => one.previous_kid === signing.kid).map(({ kid }) => kid);
    return kids.filter((kid) => successors.has(kid));
  }

  /** Whether the trust in the current key was ended, by its own name or by that of a later key. Rejects when the store is away. */
  async isForgotten(): Promise<boolean> {
    const { signing } = this.#options;
    const rotations = await this.#rows();
    const { successors } = await knownFrom(signing, rotations);
    const later = new Set([signing.kid, ...successors]);
    return rotations.some((one) => one.version === PREVIOUS_FORGOTTEN && later.has(one.previous_kid));
  }

  /** Whether the store has bundles, and no trusted key signed any of them. Rejects when the store is away. */
  async isForeign(): Promise<boolean> {
    const { keys } = await knownFrom(this.#options.signing, await this.rotations());
    const signers = await this.#options.connection.query<{ kid: string }>(sql('bundle_signers'));
    return signers.length > 0 && !signers.some(({ kid }) => keys.has(kid));
  }

  /** The rotations of the store that count, trusted or not. Rejects when the store is away. */
  async rotations(): Promise<Rotation[]> {
    return (await this.#rows()).filter(({ version }) => version === COUNTS);
  }

  async #rows(): Promise<Rotation[]> {
    await this.#options.ready();
    return this.#options.connection.query<Rotation>(sql('root_key_successions'));
  }

  /** Records that the current key is replaced by this one. Resolves when that is durable. */
  async recordRotation(next: SigningKeys): Promise<void> {
    const { signing, now } = this.#options;
    const nowMs = now();
    const succession = await vouch(signing, next.jwk, { typ: SUCCESSION, nowMs });
    const acknowledgement = await vouch(next, signing.jwk, { typ: ACKNOWLEDGEMENT, nowMs });
    const rotation = { kid: next.kid, previous_kid: signing.kid, succession, acknowledgement };
    await this.#write({ ...rotation, version: COUNTS });
  }

  /** Ends the trust in a key through the rotations of the store. Running services notice it when they restart. */
  async forget(kid: string): Promise<number> {
    const rotations = (await this.rotations()).filter(
      (rotation) => rotation.kid === kid || rotation.previous_kid === kid,
    );
    for (const rotation of rotations)
      await this.#write({ ...rotation, version: rotation.kid === kid ? NEXT_FORGOTTEN : PREVIOUS_FORGOTTEN });
    return rotations.length;
  }

  async #write(rotation: Rotation): Promise<void> {
    const values = { ...rotation, created_at: clickhouseTime(this.#options.now()) };
    await append(this.#options.connection, { table: 'root_key_successions', values });
  }

  /** Never rejects: on a failure, the previously read keys stay. */
  #refresh(): Promise<void> {
    const ageMs = performance.now() - this.#triedAtMs;
    if (ageMs <= ROOT_KEYS_AGE_MS_MAX || (this.#options.isSoleWriter && this.#isComplete))
      return Promise.resolve();
    this.#reading ??= this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#triedAtMs = performance.now();
        this.#reading = undefined;
      });
    return this.#reading;
  }

  async #read(): Promise<void> {
    const rotations = await withTimeout(this.rotations(), STATEMENT_WAIT_MS_MAX);
    this.#known = await knownFrom(this.#options.signing, rotations);
    this.#isComplete = true;
  }
}

function configured({ jwk, retired }: SigningKeys): [string, PublicJwk][] {
  return [jwk, ...retired].map((key) => [key.kid, key]);
}

/** The keys that the root key vouches for, or that vouch for it, through any number of rotations. */
async function knownFrom(signing: SigningKeys, rotations: Rotation[]): Promise<Known> {
  const keys = new Map(configured(signing));
  const successors = new Set<string>();
  const successions = new Set<string>();
  const links = (): number => keys.size + successors.size + successions.size;
  // Newest first towards the past, oldest first towards the future: one pass follows a chain, unless a clock was wrong.
  let before: number;
  do {
    before = links();
    for (const { kid, previous_kid, acknowledgement } of rotations.toReversed()) {
      const key = await vouchedBy(keys.get(kid), acknowledgement, ACKNOWLEDGEMENT);
      if (key?.kid === previous_kid) keys.set(previous_kid, key);
    }
    for (const { kid, previous_kid, succession } of rotations) {
      const key = await vouchedBy(keys.get(previous_kid), succession, SUCCESSION);
      if (key?.kid !== kid) continue;
      const isLater = previous_kid === signing.kid || successors.has(previous_kid);
      if (!keys.has(kid) && !isLater) continue;
      if (isLater) successors.add(kid);
      keys.set(kid, key);
      successions.add(succession);
    }
  } while (links() > before);
  return { keys, successors, successions: [...successions] };
}

async function vouchedBy(jwk: PublicJwk | undefined, jws: string, typ: Type): Promise<PublicJwk | undefined> {
  return jwk && vouchedKey(jws, createPublicKey({ key: jwk, format: 'jwk' }), typ);
}
