/** The service runs only about this many reads at once for all its callers, and others can wait only for seconds. */
const RUNNING_MAX = 3;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs few reads at once: a page with many panels must not occupy a busy service. Aborted reads are not run. */
export async function inTurn<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  if (running < RUNNING_MAX) running += 1;
  // When a read ends, the next one gets its turn.
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    signal.throwIfAborted();
    return await read();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
