import { RequestError } from '../errors.ts';
import { STATEMENT_WAIT_MS_MAX, STATEMENTS_OPEN_MAX } from '../limits.ts';
import type { Connection, QueryParams } from './connection.ts';
import { withTimeout } from './with-timeout.ts';

/** One row to add. `token`: the store keeps only the first insert with the same one. */
export type Append = { table: string; values: Record<string, unknown>; token?: string };

/**
 * The store for work that a caller waits for: every statement ends in time or rejects with store_unavailable, and
 * when too many are open it rejects with overloaded at once.
 */
export type BoundedStore = {
  query<Row>(sql: string, params?: QueryParams): Promise<Row[]>;
  append(row: Append): Promise<void>;
};

export function createBoundedStore(
  connection: Pick<Connection, 'query' | 'insert'>,
  ready: () => Promise<void>,
): BoundedStore {
  let open = 0;
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (open >= STATEMENTS_OPEN_MAX)
      throw new RequestError('overloaded', 'Too many calls wait for the store. Try again.');
    open += 1;
    // One that is late is still open: it is counted until the store is done with it.
    const done = ready()
      .then(work)
      .finally(() => (open -= 1));
    return withTimeout(done, STATEMENT_WAIT_MS_MAX);
  };
  return {
    query: <Row>(sql: string, params?: QueryParams) => run(() => connection.query<Row>(sql, params)),
    append: ({ table, values, token = '' }) => {
      const lines = [JSON.stringify(Object.values(values))];
      return run(() => connection.insert({ table, columns: Object.keys(values), lines, token }));
    },
  };
}
