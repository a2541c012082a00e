import type { KeyedMutex } from '../keyed-mutex.ts';
import type { BoundedStore } from './bounded-store.ts';
import { sql } from './sql.ts';
import { StoreError } from './store-error.ts';

/** When several processes change one thing at the same time, one of them succeeds in each round. */
const TRIES_MAX = 10;

/** A row to insert. `after` is the highest version of the rows of its project. */
type Change = { table: string; values: Record<string, string | number | undefined>; after: number };
type Options = { store: BoundedStore; mutex: KeyedMutex };

/**
 * Runs the changes of one key of a project one after the other, in all processes. `next` reads the current version and returns the row that
 * follows it, or none to change nothing. Of several rows that follow one version, the store keeps the first.
 */
export function changeInTurn<T>(
  { store, mutex }: Options,
  key: string,
  next: () => Promise<{ result: T; change?: Change }>,
): Promise<T> {
  return mutex.run(key, async () => {
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const { result, change } = await next();
      if (change === undefined) return result;
      const { table, values, after } = change;
      await store.append({ table, values, token: `${key}:${after}` });
      // Not the newest row: another process may have changed it again.
      const params = { table, project_id: String(values['project_id']), after };
      const [kept] = await store.query<Record<string, unknown>>(sql('row_after_version'), params);
      if (Object.entries(values).every(([name, value]) => String(kept?.[name]) === String(value)))
        return result;
    }
    throw new StoreError('overloaded', 'Too many requests change the same data. Try again.');
  });
}
