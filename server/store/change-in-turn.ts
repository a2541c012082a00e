import type { KeyedMutex } from '../keyed-mutex.ts';
import { StoreError } from './store-error.ts';

/** When several processes change one thing at the same time, one of them succeeds in each round. */
const TRIES_MAX = 10;

/**
 * Runs the changes of one key one after the other, in all processes. `attempt` reads the current version and writes the next one, with the
 * current version in its token: of several such inserts, the store keeps the first. It resolves with undefined if that was another one.
 */
export function changeInTurn<T>(
  mutex: KeyedMutex,
  key: string,
  attempt: () => Promise<T | undefined>,
): Promise<T> {
  return mutex.run(key, async () => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const result = await attempt();
      if (result !== undefined) return result;
    }
    throw new StoreError('overloaded', 'Too many requests change the same data. Try again.');
  });
}
