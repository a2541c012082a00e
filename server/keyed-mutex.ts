import { RequestError } from './errors.ts';

/**
 * A line whose front has not moved for so long waits for a store that does not answer: one more statement must fit
 * into the 5 s of a 503 (CONTRACT 3).
 */
const STANDSTILL_MS_MAX = 1500;
/** A line that moves is waited in for so long. */
const WAIT_MS_MAX = 4000;

/** `tail` resolves when all that was asked for is over; `movedMs` is when the work that runs now began. */
type Line = { tail: Promise<void>; movedMs: number };

/**
 * Runs work one at a time for each key, in the order it was asked for; other keys are not held up. Rejects with
 * overloaded what has waited too long for its turn.
 */
export class KeyedMutex {
  readonly #lines = new Map<string, Line>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { tail: Promise.resolve(), movedMs: performance.now() };
    this.#lines.set(key, line);
    const before = line.tail;
    const mine = Promise.withResolvers<void>();
    // Who gives up leaves its place empty: those behind it still wait for those before it.
    const tail = before.then(() => mine.promise);
    line.tail = tail;
    try {
      await turn(before, line);
      line.movedMs = performance.now();
      return await work();
    } finally {
      mine.resolve();
      void tail.then(() => {
        if (line.tail === tail) this.#lines.delete(key);
      });
    }
  }
}

async function turn(before: Promise<void>, line: Line): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const leftMs = Math.min(endMs, line.movedMs + STANDSTILL_MS_MAX) - performance.now();
    if (await endsWithin(before, leftMs)) return;
    if (performance.now() >= Math.min(endMs, line.movedMs + STANDSTILL_MS_MAX))
      throw new RequestError('overloaded', 'Too many calls wait for the same thing. Try again.');
  }
}

async function endsWithin(work: Promise<void>, waitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, waitMs), false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
