import { FlushNumbers, type FlushOutcome } from '../commit/flush-numbers.ts';

/** An insert that waits for the log. `isFresh`: all its rows are there, and none is in the log. Otherwise, its projects are unknown. */
export type Waiting = {
  flush: bigint;
  isFresh: boolean;
  projects?: ReadonlySet<string>;
  isFinal: boolean;
  rows?: number;
  sinceMs: number;
};

/** A lost insert may still be carried out: after the server has given up the connection, and much later. */
const LOOK_AGAIN_MS = [12_000, 70_000] as const;
/** Beyond this many, the waiting inserts are forgotten; a scan of the store finds them. */
const WAITING_MAX = 100_000;

/** The inserts of this process that wait for the log. */
export class FlushQueue extends FlushNumbers {
  readonly #underWay = new Set<bigint>();
  readonly #waiting = new Map<bigint, Waiting>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #onEnded: () => void;
  /** Some were forgotten. */
  hasOverflowed = false;

  constructor(onEnded: () => void) {
    super();
    this.#onEnded = onEnded;
  }

  get size(): number {
    return this.#waiting.size;
  }

  get hasCareful(): boolean {
    return this.#waiting.values().some(({ isFresh }) => !isFresh);
  }

  /** When the longest waiting insert was added, by performance.now(). */
  get oldestMs(): number | undefined {
    let oldest: number | undefined;
    for (const { sinceMs } of this.#waiting.values()) oldest = Math.min(oldest ?? sinceMs, sinceMs);
    return oldest;
  }

  override next(): bigint {
    const flush = super.next();
    this.#underWay.add(flush);
    return flush;
  }

  /** Some of its rows may be there already. */
  isUnderWay(flush: bigint): boolean {
    return this.#underWay.has(flush);
  }

  override ended(flush: bigint, { isSettled, projects }: FlushOutcome): void {
    this.#underWay.delete(flush);
    if (isSettled) return this.add({ flush, isFresh: true, projects, isFinal: true });
    this.add({ flush, isFresh: false, isFinal: false });
    const last = LOOK_AGAIN_MS.at(-1);
    for (const ms of LOOK_AGAIN_MS) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.add({ flush, isFresh: false, isFinal: ms === last });
      }, ms).unref();
      this.#timers.add(timer);
    }
  }

  add(waiting: Omit<Waiting, 'sinceMs'>): void {
    const before = this.#waiting.get(waiting.flush);
    const sinceMs = before?.sinceMs ?? performance.now();
    const isFresh = waiting.isFresh && before?.isFresh !== false;
    this.#waiting.set(waiting.flush, { ...waiting, isFresh, sinceMs });
    if (this.#waiting.size > WAITING_MAX) {
      this.#waiting.clear();
      this.hasOverflowed = true;
    }
    this.#onEnded();
  }

  /** Puts back inserts that a round did not complete. Some of their records may be in the log. */
  putBack(taken: readonly Waiting[]): void {
    for (const one of taken) {
      const later = this.#waiting.get(one.flush);
      this.#waiting.set(one.flush, { ...one, isFresh: false, isFinal: later?.isFinal ?? one.isFinal });
    }
  }

  /**
   * Removes and returns the oldest inserts: up to `fresh` fresh ones that are at least `ageMs` old, and others with up to `careful` rows.
   */
  take({ fresh, careful, ageMs }: { fresh: number; careful: number; ageMs: number }): Waiting[] {
    const left = { fresh, careful };
    const taken: Waiting[] = [];
    const beforeMs = performance.now() - ageMs;
    for (const one of this.#waiting.values()) {
      const kind = one.isFresh ? 'fresh' : 'careful';
      if (left[kind] <= 0 || one.sinceMs > beforeMs) continue;
      left[kind] -= one.isFresh ? 1 : (one.rows ?? 1);
      taken.push(one);
    }
    for (const { flush } of taken) this.#waiting.delete(flush);
    return taken;
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }
}
