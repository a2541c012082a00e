import { RequestError } from '../errors.ts';
import type { Connection, QueryParams } from './connection.ts';

type PoolLimits = { waitingMax: number };

/** Reads side by side, as many as there are connections; the rest wait in a bounded line, first come first served. */
export class ReadPool {
  readonly #idle: Connection[];
  readonly #all: Connection[];
  readonly #waiting: { resolve: (connection: Connection) => void }[] = [];
  readonly #waitingMax: number;

  constructor(connections: Connection[], { waitingMax }: PoolLimits) {
    this.#all = connections;
    this.#idle = [...connections];
    this.#waitingMax = waitingMax;
  }

  /** Rejects with `overloaded` at once when too many reads wait already. */
  async query<Row>(sql: string, params?: QueryParams, signal?: AbortSignal): Promise<Row[]> {
    const connection = await this.#take();
    try {
      signal?.throwIfAborted();
      return await connection.query<Row>(sql, params, signal);
    } finally {
      this.#give(connection);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((connection) => connection.close()));
  }

  #take(): Connection | Promise<Connection> {
    const connection = this.#idle.pop();
    if (connection !== undefined) return connection;
    if (this.#waiting.length >= this.#waitingMax) {
      throw new RequestError('overloaded', 'Too many reads are running. Try again.');
    }
    return new Promise((resolve) => this.#waiting.push({ resolve }));
  }

  #give(connection: Connection): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(connection);
    else next.resolve(connection);
  }
}
