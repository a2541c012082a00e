import { STATEMENT_WAIT_MS_MAX, STATEMENTS_OPEN_MAX } from '../limits.ts';
import type { Connection, QueryParams } from './connection.ts';
import { StoreError } from './store-error.ts';
import { withTimeout } from './with-timeout.ts';

/** A row to add, or any number with the same columns, in one insert. Of several inserts with one token, the store keeps only the first. */
type Append = { table: string; values: Record<string, unknown> | Record<string, unknown>[]; token?: string };

/**
 * The store for work that a caller waits for. A late statement rejects with store_unavailable, and one beyond the
 * limit of open statements with overloaded at once.
 */
export type BoundedStore = {
  query<Row>(sql: string, params?: QueryParams): Promise<Row[]>;
  append(row: Append): Promise<void>;
  /** How long the store has not answered anything while statements are open. */
  silentMs(): number;
};

export function createBoundedStore(
  connection: Pick<Connection, 'query' | 'insert'>,
  ready: () => Promise<void>,
): BoundedStore {
  let open = 0;
  let answeredMs = 0;
  const run = async <T>(work: () => Promise<T>): Promise<T> => {
    if (open >= STATEMENTS_OPEN_MAX)
      throw new StoreError('overloaded', 'Too many calls wait for the store. Try again.');
    if (open === 0) answeredMs = performance.now();
    open += 1;
    // A late statement stays open until the store is done with it.
    const done = ready()
      .then(work)
      .finally(() => {
        open -= 1;
        answeredMs = performance.now();
      });
    return withTimeout(done, STATEMENT_WAIT_MS_MAX);
  };
  return {
    query: <Row>(sql: string, params?: QueryParams) => run(() => connection.query<Row>(sql, params)),
    append: (row) => run(() => append(connection, row)),
    silentMs: () => (open === 0 ? 0 : performance.now() - answeredMs),
  };
}

/** Adds rows on a connection without these bounds. */
export async function append(
  connection: Pick<Connection, 'insert'>,
  { table, values, token = '' }: Append,
): Promise<void> {
  const rows = [values].flat();
  if (rows.length === 0) return;
  const lines = rows.map((row) => JSON.stringify(Object.values(row)));
  await connection.insert({ table, columns: Object.keys(rows[0] ?? {}), lines, token });
}
