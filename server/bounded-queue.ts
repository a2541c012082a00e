import PQueue from 'p-queue';
import { RequestError } from './errors.ts';

type Limits = {
  runningMax: number;
  waitingMax: number;
  waitMsMax: number;
  /** Makes the error for work that is refused. */
  refusal?: () => Error;
};

/** Runs a bounded number of tasks at once. The others wait in order, in a queue that is bounded in length and time. */
export class BoundedQueue {
  readonly #limits: Required<Limits>;
  readonly #tasks: PQueue;
  readonly #waiting = new Set<AbortController>();

  constructor(limits: Limits) {
    this.#limits = { refusal: overloaded, ...limits };
    this.#tasks = new PQueue({ concurrency: limits.runningMax });
  }

  /** Rejects with the refusal when the queue is full, after too long a wait, and when the signal aborts the wait. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { runningMax, waitingMax, waitMsMax, refusal } = this.#limits;
    if (this.#tasks.pending >= runningMax && this.#tasks.size >= waitingMax) throw refusal();
    // Not the caller's own signal: an abort must end the wait, and must not free the place of running work.
    const wait = new AbortController();
    const refuse = () => wait.abort(refusal());
    const timer = setTimeout(refuse, waitMsMax);
    const endWait = () => {
      this.#waiting.delete(wait);
      clearTimeout(timer);
      signal?.removeEventListener('abort', refuse);
    };
    this.#waiting.add(wait);
    signal?.addEventListener('abort', refuse, { once: true });
    const task = () => {
      endWait();
      return work();
    };
    return this.#tasks.add(task, { signal: wait.signal }).finally(endWait);
  }

  /** Rejects all work that still waits. */
  rejectWaiting(error: Error): void {
    for (const wait of this.#waiting) wait.abort(error);
  }
}

function overloaded(): RequestError {
  return new RequestError('overloaded', 'Too much of this work is running already. Try again.');
}
