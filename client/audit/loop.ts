// Not the functions of the global scope, which tests and DOM environments replace.
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';
import { threadId } from 'node:worker_threads';

/** The event loop that a sender runs on. */
export type Loop = { identity(): string; isRunning(): boolean };

/** Waits; ends early, without an error, when the signal is aborted. */
export type Sleep = (waitMs: number, signal: AbortSignal) => Promise<void>;

/**
 * The loop of this thread. It counts as running until the process's exit phase. `beforeEnd` is called when the loop has nothing left to do.
 * If it starts more work, the loop continues, and `beforeEnd` is called again afterwards. `atExit` is called when nothing more can run.
 */
export function createLoop(beforeEnd: () => void, atExit: () => void): Loop {
  let isExiting = false;
  process.on('beforeExit', beforeEnd);
  // Before the exit handlers of the application, which may emit.
  process.prependListener('exit', () => {
    isExiting = true;
    atExit();
  });
  // Deno emits no exit after an uncaught error.
  if ('Deno' in globalThis)
    process.on('uncaughtExceptionMonitor', () => {
      if (process.listenerCount('uncaughtException') === 0) atExit();
    });
  return { identity: () => `${process.pid}/${threadId}`, isRunning: () => !isExiting };
}

/** Does not keep the process alive. */
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

/**
 * Lets the agent's own work run first, for a whole turn of the loop. After the loop was blocked, that turn detects the end of an idle
 * connection before the connection is used for the next request.
 */
export function nextTurn(): Promise<void> {
  // The first may run in this turn, before the loop reads. Not unref'd: an idle loop would not run it until something else wakes the loop.
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

/** A timer that fires this much too late did so because the loop was blocked. */
const LATE_MS = 100;
const GRACE_MS_MAX = 1_000;

/**
 * Calls back after this many milliseconds; returns a function that cancels the call. Timers run before the loop reads what arrived while it
 * was blocked. A late timer therefore waits again, for a second at most, and lets the loop read first. Does not keep the process alive.
 */
export function afterMs(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout;
  let isCancelled = false;
  const wait = (waitMs: number): void => {
    const lateAtMs = performance.now() + waitMs + LATE_MS;
    const onTimer = async (): Promise<void> => {
      if (performance.now() > lateAtMs) return wait(Math.min(ms, GRACE_MS_MAX));
      await nextTurn();
      if (!isCancelled) callback();
    };
    timer = setTimeout(() => void onTimer(), waitMs).unref();
  };
  wait(ms);
  return () => {
    isCancelled = true;
    clearTimeout(timer);
  };
}

/** Keeps the process alive while the promise is pending. Sends do not. */
export async function holdOpen(pending: Promise<unknown>): Promise<void> {
  const hold = setInterval(() => undefined, 60_000);
  try {
    await pending;
  } finally {
    clearInterval(hold);
  }
}

/** Resolves with the promise or at the timeout; keeps the process alive until then. */
export async function within(pending: Promise<unknown>, timeoutMs: number): Promise<void> {
  let cancel = (): void => undefined;
  const deadline = new Promise<void>((resolve) => (cancel = afterMs(timeoutMs, resolve)));
  try {
    await holdOpen(Promise.race([pending, deadline]));
  } finally {
    cancel();
  }
}
