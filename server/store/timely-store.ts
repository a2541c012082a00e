import { RequestError } from '../errors.ts';
import { STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import type { Connection, QueryParams } from './connection.ts';

/** One row to add. `token`: the store keeps only the first insert with the same one. */
export type Append = { table: string; values: Record<string, unknown>; token?: string };

/** The store for work that a caller waits for: every statement ends in time, or rejects with store_unavailable. */
export type TimelyStore = {
  query<Row>(sql: string, params?: QueryParams): Promise<Row[]>;
  append(row: Append): Promise<void>;
};

export function createTimelyStore(connection: Connection, ready: () => Promise<void>): TimelyStore {
  return {
    query: <Row>(sql: string, params?: QueryParams) =>
      inTime(async () => {
        await ready();
        return connection.query<Row>(sql, params);
      }),
    append: ({ table, values, token = '' }) =>
      inTime(async () => {
        await ready();
        const lines = [JSON.stringify(Object.values(values))];
        await connection.insert({ table, columns: Object.keys(values), lines, token });
      }),
  };
}

/** A store that hangs must not keep a caller: 503 within 5 s (CONTRACT 3). */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fault = new RequestError('store_unavailable', 'The store did not answer in time. Try again.');
    timer = setTimeout(() => reject(fault), STATEMENT_WAIT_MS_MAX);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
