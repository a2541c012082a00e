import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import { RequestError } from './errors.ts';

type Limits = {
  runningMax: number;
  waitingMax: number;
  waitMsMax: number;
  /** While the event loop is busy, the place of finished work stays empty for ten times as long as the work took, up to 1 s. */
  yields?: boolean;
  /** Creates the error for work that is refused. */
  refusal?: () => Error;
};

type RunOptions = {
  /** Ends the wait. */
  signal?: AbortSignal | undefined;
  /** The highest is first. Each priority has its own queue, so a full one does not affect the others. */
  priority?: number;
};

/** Runs a bounded number of tasks at once. The others wait in order, in a queue that is bounded in length and time. */
export class BoundedQueue {
  readonly #limits: Required<Limits>;
  readonly #tasks: PQueue;
  readonly #waiting = new Set<AbortController>();

  constructor(limits: Limits) {
    this.#limits = { refusal: overloaded, yields: false, ...limits };
    this.#tasks = new PQueue({ concurrency: limits.runningMax });
  }

  /** Rejects with the refusal if the queue is full, after too long a wait, or if the signal aborts the wait. */
  async run<T>(work: () => Promise<T>, { signal, priority = 0 }: RunOptions = {}): Promise<T> {
    const { runningMax, waitingMax, waitMsMax, refusal, yields } = this.#limits;
    const isFull = this.#tasks.pending >= runningMax && this.#tasks.sizeBy({ priority }) >= waitingMax;
    if (isFull || signal?.aborted === true) throw refusal();
    // Not the caller's own signal: an abort must end the wait, but must not free the place of running work.
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
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const task = async () => {
      endWait();
      const rest = startRestMeter();
      await work().then(resolve, reject);
      if (yields) await rest();
    };
    this.#tasks.add(task, { signal: wait.signal, priority }).catch(reject).finally(endWait);
    return promise;
  }

  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void> {
    return this.#tasks.onIdle();
  }

  /** Rejects all waiting work. */
  rejectWaiting(error: Error): void {
    for (const wait of this.#waiting) wait.abort(error);
  }
}

/** Of one thread: for each event, the engine's own threads do about the same amount of work. */
const BUSY_UTILIZATION = 0.2;
const REST_FACTOR = 10;
/** On a slow machine as well, urgent work must get a place soon. */
const REST_MS_MAX = 1000;

/** Returns a function that pauses if the event loop has been busy since. */
function startRestMeter(): () => Promise<void> {
  const startMs = performance.now();
  const before = performance.eventLoopUtilization();
  return async () => {
    const { utilization } = performance.eventLoopUtilization(before);
    if (utilization > BUSY_UTILIZATION)
      await sleep(Math.min((performance.now() - startMs) * REST_FACTOR, REST_MS_MAX));
  };
}

function overloaded(): RequestError {
  return new RequestError('overloaded', 'Too much of this work is running already. Try again.');
}
