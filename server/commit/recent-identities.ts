import { type Identity, type Pair, PairMap } from './identity.ts';

/** Identities with their times. Hundreds of thousands may wait here, so none is a separate object. */
export class RecentIdentities {
  readonly #places = new PairMap<number>();
  readonly #occurredAtMs: number[] = [];
  readonly #receivedAtMs: number[] = [];

  get size(): number {
    return this.#places.size;
  }

  add(identity: Identity): void {
    this.#places.set(identity, this.#occurredAtMs.push(identity.occurredAtMs) - 1);
    this.#receivedAtMs.push(identity.receivedAtMs);
  }

  occurredAtMs(pair: Pair): number | undefined {
    const place = this.#places.get(pair);
    return place === undefined ? undefined : this.#occurredAtMs[place];
  }

  *[Symbol.iterator](): Generator<Identity> {
    for (const [pair, place] of this.#places.entries())
      yield {
        ...pair,
        occurredAtMs: this.#occurredAtMs[place] as number,
        receivedAtMs: this.#receivedAtMs[place] as number,
      };
  }
}
