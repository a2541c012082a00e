import { Worker } from 'node:worker_threads';
import { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import {
  POLICY_TASKS_OF_PROJECT_MAX,
  POLICY_TASKS_WAITING_MAX,
  POLICY_THREAD_MEBIBYTES_MAX,
  POLICY_THREADS_MAX,
  READ_SECONDS_MAX,
  READ_WAIT_MS_MAX,
} from '../limits.ts';
import type { PolicyTasks } from './policy-tasks.ts';

/** Runs one task in the thread that a caller of `run` holds. Its input and its output are copied. */
export type Ask = <N extends keyof PolicyTasks>(
  name: N,
  input: Parameters<PolicyTasks[N]>[0],
) => Promise<ReturnType<PolicyTasks[N]>>;

/** An idle thread ends after this time. */
const IDLE_MS_MAX = 30_000;
const WORKER = new URL('./policy-worker.ts', import.meta.url);

/**
 * Threads that parse, compile and decide, because one policy text of 64 KiB can take a second to parse, and a check can
 * take minutes: both would block the service. A project has one thread at a time, so projects take turns.
 */
export class PolicyThreads {
  readonly #idle: PolicyThread[] = [];
  readonly #projects = new Map<string, { queue: BoundedQueue; users: number }>();
  readonly #all = new BoundedQueue({
    runningMax: POLICY_THREADS_MAX,
    waitingMax: POLICY_TASKS_WAITING_MAX,
    waitMsMax: READ_WAIT_MS_MAX,
    yields: true,
  });

  /**
   * Gives `work` its own thread. Rejects with `overloaded` if too much work waits, if the tasks take too long or too much memory, and if
   * the signal aborts, which ends the thread.
   */
  async run<T>(projectId: string, work: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const project = this.#projects.get(projectId) ?? { queue: projectQueue(), users: 0 };
    this.#projects.set(projectId, project);
    project.users += 1;
    const late = AbortSignal.timeout(READ_WAIT_MS_MAX);
    const endWait = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await project.queue.run(
        () => this.#all.run(() => this.#withThread(work, signal), { signal: endWait }),
        { signal: endWait },
      );
    } finally {
      project.users -= 1;
      if (project.users === 0) this.#projects.delete(projectId);
    }
  }

  async #withThread<T>(work: (ask: Ask) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    const thread = this.#idle.pop() ?? new PolicyThread();
    const abort = () => thread.end(signal?.reason as Error);
    signal?.addEventListener('abort', abort);
    try {
      return await work(thread.begin());
    } finally {
      signal?.removeEventListener('abort', abort);
      if (thread.isUsable) this.#keep(thread);
    }
  }

  #keep(thread: PolicyThread): void {
    this.#idle.push(thread);
    thread.endLater(() => {
      const index = this.#idle.indexOf(thread);
      if (index >= 0) this.#idle.splice(index, 1);
    });
  }
}

function projectQueue(): BoundedQueue {
  return new BoundedQueue({
    runningMax: 1,
    waitingMax: POLICY_TASKS_OF_PROJECT_MAX - 1,
    waitMsMax: READ_WAIT_MS_MAX,
  });
}

class PolicyThread {
  readonly #worker = new Worker(WORKER, {
    // The garbage collector's helper threads have no lower priority. With more room for new objects they run less often.
    resourceLimits: { maxOldGenerationSizeMb: POLICY_THREAD_MEBIBYTES_MAX, maxYoungGenerationSizeMb: 64 },
  });
  #timer: NodeJS.Timeout | undefined;
  #leftMs = 0;
  #settle: PromiseWithResolvers<unknown> | undefined;
  isUsable = true;

  constructor() {
    this.#worker.on('message', (output) => this.#settle?.resolve(output));
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      this.end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tookTooMuch('memory') : error),
    );
  }

  /** The returned function runs tasks for READ_SECONDS_MAX in total. */
  begin(): Ask {
    clearTimeout(this.#timer);
    this.#leftMs = READ_SECONDS_MAX * 1000;
    this.#worker.ref();
    return async (name, input) => {
      const startMs = performance.now();
      const settle = Promise.withResolvers<unknown>();
      this.#settle = settle;
      this.#timer = setTimeout(() => this.end(tookTooMuch('time')), this.#leftMs);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      if (this.isUsable) this.#worker.postMessage({ name, input });
      else settle.reject(tookTooMuch('time'));
      try {
        return (await settle.promise) as ReturnType<PolicyTasks[typeof name]>;
      } finally {
        clearTimeout(this.#timer);
        this.#leftMs -= performance.now() - startMs;
      }
    };
  }

  end(reason: Error): void {
    this.isUsable = false;
    clearTimeout(this.#timer);
    this.#settle?.reject(reason);
    void this.#worker.terminate();
  }

  endLater(onEnd: () => void): void {
    this.#settle = undefined;
    this.#worker.unref();
    this.#timer = setTimeout(() => {
      onEnd();
      this.end(tookTooMuch('time'));
    }, IDLE_MS_MAX).unref();
  }
}

function tookTooMuch(what: 'time' | 'memory'): RequestError {
  const bound = what === 'time' ? `${READ_SECONDS_MAX} s` : `${POLICY_THREAD_MEBIBYTES_MAX} MiB`;
  return new RequestError(
    'overloaded',
    `The policy took more than ${bound}. Try fewer calls, a shorter replay or fewer conditions.`,
  );
}
