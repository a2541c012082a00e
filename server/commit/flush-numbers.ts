import { randomInt } from 'node:crypto';

/** The lowest bits belong to the process, so that two processes seldom have one number. */
const PROCESS_NUMBERS = 4096n;

/** Hears what becomes of the inserts of logged rows. */
export type Flushes = {
  /** The number of a new insert. */
  next: () => bigint;
  /** The insert has ended. `isSettled`: all its rows are written, and none will come later. */
  ended: (flush: bigint, isSettled: boolean) => void;
};

/** Numbers inserts: by microseconds since the epoch, and upwards within a process even when the clock is set back. */
export class FlushNumbers implements Flushes {
  readonly #process = BigInt(randomInt(Number(PROCESS_NUMBERS)));
  #first: bigint | undefined;
  #last = 0n;

  next(): bigint {
    const now = numberAt(Date.now()) + this.#process;
    this.#last = now > this.#last ? now : this.#last + PROCESS_NUMBERS;
    this.#first ??= this.#last;
    return this.#last;
  }

  /** Nobody listens: the next process finds the rows. */
  ended(_flush: bigint, _isSettled: boolean): void {}

  /** Whether this process gave that number. */
  isOwn(flush: bigint): boolean {
    const isWithin = this.#first !== undefined && flush >= this.#first && flush <= this.#last;
    return isWithin && flush % PROCESS_NUMBERS === this.#process;
  }
}

/** The smallest number that an insert may have that began at this time. */
export function numberAt(ms: number): bigint {
  return BigInt(Math.max(0, ms)) * 1000n * PROCESS_NUMBERS;
}
