import { LRUCache } from 'lru-cache';
import type { Connection, QueryParams } from './connection.ts';
import { sql } from './sql.ts';

/** The statements that identify the caller of a request. Each has at most one row. */
const STATEMENTS = new Map(['session', 'account_by_email', 'project_role'].map((name) => [sql(name), name]));
/** The tables that they read. */
const TABLES = new Set(['sessions', 'accounts', 'projects', 'project_members']);
const ANSWERS_MAX = 1000;

/**
 * A connection that caches these statements until a row is inserted into one of the tables through it. It must be the only writer of
 * these tables. A statement that starts after an insert has succeeded or failed goes to the store.
 */
export function cacheCallers(connection: Connection): Connection {
  const answers = new LRUCache<string, Promise<unknown[]>>({ max: ANSWERS_MAX });
  const ask = (key: string, text: string, params: QueryParams) => {
    const answer = connection.query(text, params);
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
    return answer;
  };
  return {
    ...connection,
    query: <Row>(text: string, params: QueryParams = {}) => {
      const name = STATEMENTS.get(text);
      if (name === undefined) return connection.query<Row>(text, params);
      const key = JSON.stringify([name, params]);
      return (answers.get(key) ?? ask(key, text, params)) as Promise<Row[]>;
    },
    insert: async (rows) => {
      try {
        await connection.insert(rows);
      } finally {
        if (TABLES.has(rows.table)) answers.clear();
      }
    },
  };
}
