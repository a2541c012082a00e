import { LRUCache } from 'lru-cache';
import type { Connection, QueryParams } from './connection.ts';
import { sql } from './sql.ts';

/** The statements that identify the caller of a request. Each has at most one row. */
const STATEMENTS = new Map(['session', 'account_by_email', 'project_role'].map((name) => [sql(name), name]));
/** The tables that they read. */
const TABLES = new Set(['sessions', 'accounts', 'projects', 'project_members']);
const ANSWERS_MAX = 1000;

/**
 * Answers of these statements, kept until a row is inserted into one of the tables. A statement that starts after an insert has succeeded
 * or failed goes to the store.
 */
export class CallerCache {
  readonly #answers = new LRUCache<string, Promise<unknown[]>>({ max: ANSWERS_MAX });

  /** The connection. Inserts through it into one of the tables invalidate the cache, so every writer must use it. */
  watch(connection: Connection): Connection {
    return {
      ...connection,
      insert: async (rows) => {
        try {
          await connection.insert(rows);
        } finally {
          if (TABLES.has(rows.table)) this.#answers.clear();
        }
      },
    };
  }

  /** The connection, with these statements answered from memory. */
  answer(connection: Connection): Connection {
    return {
      ...connection,
      query: <Row>(text: string, params: QueryParams = {}) => {
        const name = STATEMENTS.get(text);
        if (name === undefined) return connection.query<Row>(text, params);
        const key = JSON.stringify([name, params]);
        return (this.#answers.get(key) ?? this.#keep(key, connection.query(text, params))) as Promise<Row[]>;
      },
    };
  }

  #keep(key: string, answer: Promise<unknown[]>): Promise<unknown[]> {
    this.#answers.set(key, answer);
    answer.catch(() => this.#answers.delete(key));
    return answer;
  }
}
