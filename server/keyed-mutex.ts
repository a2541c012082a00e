import { RequestError } from './errors.ts';
import type { BoundedStore } from './store/bounded-store.ts';
import { withTimeout } from './store/with-timeout.ts';

/** A store without any answer for this long is down. One more statement must fit into the 5 s before a 503. */
const SILENCE_MS_MAX = 1500;
/** The longest wait for work that is only slow, such as a compilation or many statements. */
const WAIT_MS_MAX = 4000;

/**
 * Runs the work of each key one at a time, in order. Rejects with overloaded after too long a wait, and sooner if the store that the work
 * needs is down.
 */
export class KeyedMutex {
  readonly #store: Pick<BoundedStore, 'silentMs'>;
  /** Each resolves when all queued work of its key is done. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(store: Pick<BoundedStore, 'silentMs'>) {
    this.#store = store;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    const mine = Promise.withResolvers<void>();
    // After a timeout, later work still waits for the work before it.
    const tail = before.then(() => mine.promise);
    this.#tails.set(key, tail);
    try {
      await this.#turn(before);
      return await work();
    } finally {
      mine.resolve();
      void tail.then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    }
  }

  async #turn(before: Promise<void>): Promise<void> {
    const endMs = performance.now() + WAIT_MS_MAX;
    const leftMs = () => Math.min(endMs - performance.now(), SILENCE_MS_MAX - this.#store.silentMs());
    for (;;) {
      const isOver = await withTimeout(before, Math.max(0, leftMs())).then(
        () => true,
        () => false,
      );
      if (isOver) return;
      if (leftMs() <= 0)
        throw new RequestError('overloaded', 'Too many requests change the same resource. Try again.');
    }
  }
}
