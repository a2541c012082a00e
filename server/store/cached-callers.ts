import { LRUCache } from 'lru-cache';
import type { Connection, QueryParams } from './connection.ts';
import { sql } from './sql.ts';

/** What is asked about the caller of a request. Each answers with one row at most. */
const STATEMENTS = new Map(['session', 'account_by_email', 'project_role'].map((name) => [sql(name), name]));
/** All that they read. */
const TABLES = new Set(['sessions', 'accounts', 'projects', 'project_members']);
const ANSWERS_MAX = 1000;

/**
 * A connection that remembers who the callers are until a row enters one of those tables through it. It must be the only one that
 * writes to them. A question that is asked after an insert has ended, well or not, is answered by the store.
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
