import { RequestError } from './errors.ts';
import { withTimeout } from './store/with-timeout.ts';

/**
 * A stalled queue head means that the store is down. One more statement must fit into the 5 s before a 503.
 */
const STALL_MS_MAX = 1500;
/** The longest wait in a queue that moves. */
const WAIT_MS_MAX = 4000;

/** `tail` resolves when all queued work is done. `movedMs` is when the current work began. */
type Queue = { tail: Promise<void>; movedMs: number };

/** Runs the work of each key one at a time, in order. Rejects with overloaded after too long a wait. */
export class KeyedMutex {
  readonly #queues = new Map<string, Queue>();

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? { tail: Promise.resolve(), movedMs: performance.now() };
    this.#queues.set(key, queue);
    const before = queue.tail;
    const mine = Promise.withResolvers<void>();
    // After a timeout, the work behind this one still waits for the work before it.
    const tail = before.then(() => mine.promise);
    queue.tail = tail;
    try {
      await turn(before, queue);
      queue.movedMs = performance.now();
      return await work();
    } finally {
      mine.resolve();
      void tail.then(() => {
        if (queue.tail === tail) this.#queues.delete(key);
      });
    }
  }
}

async function turn(before: Promise<void>, queue: Queue): Promise<void> {
  const endMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const leftMs = Math.min(endMs, queue.movedMs + STALL_MS_MAX) - performance.now();
    const isOver = await withTimeout(before, Math.max(0, leftMs)).then(
      () => true,
      () => false,
    );
    if (isOver) return;
    if (performance.now() >= Math.min(endMs, queue.movedMs + STALL_MS_MAX))
      throw new RequestError('overloaded', 'Too many requests change the same resource. Try again.');
  }
}
