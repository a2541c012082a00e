import { setTimeout as sleep } from 'node:timers/promises';

/** A limit for hanging tests, not a measure: if a time is promised, the test measures it. */
const WAIT_MS_MAX = 30_000;

type Found<T> = T | undefined | false;

/**
 * Resolves with what `find` finds, soon after it is neither undefined nor false. For what happens shortly after an answer. The longer it
 * takes, the less often it looks, because a look may cost the service more than the work it waits for.
 */
export async function eventually<T>(find: () => Found<T> | Promise<Found<T>>): Promise<T> {
  const startMs = performance.now();
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > WAIT_MS_MAX) throw new Error(`It did not happen within ${WAIT_MS_MAX} ms.`);
    await sleep(Math.max(10, waitedMs / 10));
  }
}
