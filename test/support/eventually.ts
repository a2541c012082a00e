import { setTimeout as sleep } from 'node:timers/promises';

/** A limit for what hangs, not a measure: where a time is promised, the test measures it. */
const WAIT_MS_MAX = 30_000;

/** Resolves with what `find` finds, as soon as it finds something. For what happens a moment after the answer. */
export async function eventually<T>(find: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (const endMs = Date.now() + WAIT_MS_MAX; ; await sleep(10)) {
    const found = await find();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new Error(`It did not happen within ${WAIT_MS_MAX} ms.`);
  }
}
