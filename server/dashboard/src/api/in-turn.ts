/** The service runs as many at once for all its callers, and lets the others wait only seconds. */
const RUNNING_MAX = 3;

let running = 0;
const waiting: (() => void)[] = [];

/** Runs few reads at once: a page with many panels must not keep a busy service to itself. Who has aborted is not run. */
export async function inTurn<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T> {
  if (running < RUNNING_MAX) running += 1;
  // The one that ends hands its turn over.
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
