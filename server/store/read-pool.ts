import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import { RequestError } from '../errors.ts';
import { READ_WAIT_MS_MAX, READS_RUNNING_MAX, READS_WAITING_MAX } from '../limits.ts';
import type { Connection, QueryParams } from './connection.ts';
import { sql } from './sql.ts';
import { clickhouseCode } from './store-error.ts';

/** A connection and the name by which the store knows what runs on it. */
type Reader = { connection: Connection; tag: string };
type Waiting = { resolve: (reader: Reader) => void; reject: (error: unknown) => void };
type PoolOptions = { waitingMax: number; waitMsMax: number; killer: Connection };

/** A statement that is to be stopped may not have begun yet: it is told again until it has ended. */
const KILL_EVERY_MS = 50;

/** As many connections as limits.ts allows to read at once, and one that stops what runs on them. */
export function createReadPool(connect: (settings: ClickHouseSettings) => Connection): ReadPool {
  const readers = Array.from({ length: READS_RUNNING_MAX }, () => {
    const tag = `gatehouse-read-${randomUUID()}`;
    return { connection: connect({ log_comment: tag }), tag };
  });
  return new ReadPool(readers, {
    waitingMax: READS_WAITING_MAX,
    waitMsMax: READ_WAIT_MS_MAX,
    killer: connect({}),
  });
}

/** Reads side by side, as many as there are connections; the rest wait in a bounded line, first come first served. */
export class ReadPool {
  readonly #idle: Reader[];
  readonly #all: Reader[];
  readonly #waiting = new Set<Waiting>();
  readonly #options: PoolOptions;

  constructor(readers: Reader[], options: PoolOptions) {
    this.#all = readers;
    this.#idle = [...readers];
    this.#options = options;
  }

  /** Rejects with `overloaded` at once when too many reads wait already. An abort stops the statement in the store. */
  query<Row>(text: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return this.#run((connection) => connection.query<Row>(text, params), signal);
  }

  /** As `query`, with the bytes of the result in the FORMAT that the statement names. */
  queryBytes(text: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Buffer> {
    return this.#run((connection) => connection.queryBytes(text, params), signal);
  }

  async close(): Promise<void> {
    const connections = [...this.#all.map(({ connection }) => connection), this.#options.killer];
    await Promise.all(connections.map((connection) => connection.close()));
  }

  async #run<T>(work: (connection: Connection) => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    const reader = await this.#take(signal);
    let killing: Promise<void> | undefined;
    let isRunning = true;
    const kill = () => {
      killing = this.#kill(reader.tag, () => isRunning);
    };
    try {
      if (signal?.aborted === true) throw overloaded();
      signal?.addEventListener('abort', kill, { once: true });
      // Without the signal: the embedded driver would only stop to listen, and the statement would run on.
      return await work(reader.connection);
    } catch (error) {
      if (isSilence(error)) this.#refuseWaiting(error);
      throw error;
    } finally {
      isRunning = false;
      signal?.removeEventListener('abort', kill);
      // A kill on its way must not meet the next caller's statement.
      if (killing === undefined) this.#give(reader);
      else void killing.finally(() => this.#give(reader));
    }
  }

  async #kill(tag: string, isRunning: () => boolean): Promise<void> {
    while (isRunning()) {
      // What cannot be stopped ends at its time limit.
      await this.#options.killer.query(sql('read_kill'), { tag }).catch(() => undefined);
      await sleep(KILL_EVERY_MS);
    }
  }

  #take(signal: AbortSignal | undefined): Reader | Promise<Reader> {
    const reader = this.#idle.pop();
    if (reader !== undefined) return reader;
    if (this.#waiting.size >= this.#options.waitingMax) throw overloaded();
    return new Promise((resolve, reject) => {
      const leave = () => waiting.reject(overloaded());
      const timer = setTimeout(leave, this.#options.waitMsMax);
      const settle = () => {
        this.#waiting.delete(waiting);
        clearTimeout(timer);
        signal?.removeEventListener('abort', leave);
      };
      const waiting: Waiting = {
        resolve: (free) => {
          settle();
          resolve(free);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.add(waiting);
    });
  }

  #give(reader: Reader): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#idle.push(reader);
    else next.resolve(reader);
  }

  /** The store is silent or gone: who has waited for a place has no time left to find that out again. */
  #refuseWaiting(error: RequestError): void {
    for (const waiting of this.#waiting) waiting.reject(error);
  }
}

/** The store gave neither a result nor an error of its own. */
function isSilence(error: unknown): error is RequestError {
  const isAway = error instanceof RequestError && error.code === 'store_unavailable';
  return isAway && clickhouseCode(error.cause) === undefined;
}

function overloaded(): RequestError {
  return new RequestError('overloaded', 'Too many reads are running. Try again.');
}
