import { randomInt } from 'node:crypto';

/**
 * How many numbers a millisecond has. A process always uses the same random one of them, so that two processes hardly ever share a number.
 */
const NUMBERS_PER_MS = 4_096_000n;

/** Is notified of the outcomes of inserts of logged rows. */
export type Flushes = {
  /** The number of a new insert. */
  next: () => bigint;
  ended: (flush: bigint, outcome: FlushOutcome) => void;
};

/** Reports an insert that has ended. `isSettled`: all its rows are written, and none will arrive later. projects: those of its rows. */
export type FlushOutcome = { isSettled: boolean; projects: ReadonlySet<string> };

/** Numbers inserts by time, and in ascending order within a process even if the clock is set back. */
export class FlushNumbers implements Flushes {
  readonly #process = BigInt(randomInt(Number(NUMBERS_PER_MS)));
  #first: bigint | undefined;
  #last = 0n;

  next(): bigint {
    const now = numberAt(Date.now()) + this.#process;
    this.#last = now > this.#last ? now : this.#last + NUMBERS_PER_MS;
    this.#first ??= this.#last;
    return this.#last;
  }

  /** The next numbers are above this one. */
  startAfter(flush: bigint): void {
    const last = flush - (flush % NUMBERS_PER_MS) + this.#process;
    if (last > this.#last) this.#last = last;
  }

  /** Nobody listens: the next process finds the rows. */
  ended(_flush: bigint, _outcome: FlushOutcome): void {}

  /** Whether this process gave that number. */
  isOwn(flush: bigint): boolean {
    const isWithin = this.#first !== undefined && flush >= this.#first && flush <= this.#last;
    return isWithin && flush % NUMBERS_PER_MS === this.#process;
  }
}

/** The smallest possible number of an insert that began at this time. */
export function numberAt(ms: number): bigint {
  return BigInt(Math.max(0, ms)) * NUMBERS_PER_MS;
}
