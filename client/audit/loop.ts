import { threadId } from 'node:worker_threads';

/** Spec 6.2: what the event loop is to Node, and what of it a sender needs to know. */
export type Loop = { identity(): string; isRunning(): boolean };

/** The loop of this thread; it stops running when the process's exit phase begins. */
export function createLoop(): Loop {
  let isExiting = false;
  // First in line, so that the exit handlers of the application find the answer ready.
  process.prependListener('exit', () => {
    isExiting = true;
  });
  return { identity: () => `${process.pid}/${threadId}`, isRunning: () => !isExiting };
}

/** Waits without keeping the process alive; an aborted wait ends at once, without an error. */
export function sleep(waitMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, signal.aborted ? 0 : waitMs).unref();
    signal.addEventListener('abort', done);
  });
}

/** Gives way to what the agent does now, for one turn of the loop. */
export function nextTurn(): Promise<void> {
  // Not unref'd: the loop would then sleep until something else wakes it before it took this turn.
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Keeps the process alive while the promise is pending, which sends by themselves do not. */
export async function holdOpen<T>(pending: Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, 60_000);
  try {
    return await pending;
  } finally {
    clearInterval(hold);
  }
}

/** Resolves with the promise, or when the time is up; keeps the process alive until then. */
export async function within(pending: Promise<void>, timeoutMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  try {
    await Promise.race([pending, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
