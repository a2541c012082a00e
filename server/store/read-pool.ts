import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouseSettings } from '@clickhouse/client';
import { BoundedQueue } from '../bounded-queue.ts';
import { READ_WAIT_MS_MAX, READS_RUNNING_MAX, READS_WAITING_MAX } from '../limits.ts';
import type { Connection, QueryParams } from './connection.ts';
import { sql } from './sql.ts';
import { clickhouseCode, StoreError } from './store-error.ts';

/** A connection and the log_comment of its statements, by which the store finds them. */
type Reader = { connection: Connection; tag: string };
/** Runs one statement in the pool, once the store is ready. An abort stops it. */
export type RunRead = <Row>(sql: string, params: QueryParams, signal?: AbortSignal) => Promise<Row[]>;
export type RunReadBytes = (sql: string, params: QueryParams, signal?: AbortSignal) => Promise<Buffer>;
type PoolOptions = { waitingMax: number; waitMsMax: number; killer: Connection };

/** A kill is repeated until the statement has ended, because it may arrive before the statement begins. */
const KILL_EVERY_MS = 50;

/** The connections that read in parallel, and one that kills their statements. */
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

/** Runs as many reads at once as there are connections. The others wait in a bounded queue. */
export class ReadPool {
  readonly #idle: Reader[];
  readonly #all: Reader[];
  readonly #queue: BoundedQueue;
  readonly #killer: Connection;

  constructor(readers: Reader[], { waitingMax, waitMsMax, killer }: PoolOptions) {
    this.#all = readers;
    this.#idle = [...readers];
    this.#queue = new BoundedQueue({
      runningMax: readers.length,
      waitingMax,
      waitMsMax,
      refusal: overloaded,
    });
    this.#killer = killer;
  }

  /** Rejects with `overloaded` immediately if too many reads are waiting. An abort stops the statement in the store. */
  query<Row>(text: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Row[]> {
    return this.#run((connection) => connection.query<Row>(text, params), signal);
  }

  /** Like `query`, with the bytes of the result in the FORMAT that the statement names. */
  queryBytes(text: string, params: QueryParams = {}, signal?: AbortSignal): Promise<Buffer> {
    return this.#run((connection) => connection.queryBytes(text, params), signal);
  }

  async close(): Promise<void> {
    const connections = [...this.#all.map(({ connection }) => connection), this.#killer];
    await Promise.all(connections.map((connection) => connection.close()));
  }

  #run<T>(work: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#queue.run(
      async () => {
        if (signal?.aborted === true) throw overloaded();
        const reader = this.#idle.pop();
        if (reader === undefined) throw overloaded();
        let killing: Promise<void> | undefined;
        let isRunning = true;
        const kill = () => {
          killing = this.#kill(reader.tag, () => isRunning);
        };
        signal?.addEventListener('abort', kill, { once: true });
        try {
          // Without the signal: the embedded driver would only stop listening, and the statement would continue to run.
          return await work(reader.connection);
        } catch (error) {
          // The others have no time left to find out for themselves that the store is unavailable.
          if (isSilence(error)) this.#queue.rejectWaiting(error);
          throw error;
        } finally {
          isRunning = false;
          signal?.removeEventListener('abort', kill);
          // A late kill must not hit the next statement on this connection.
          await killing;
          this.#idle.push(reader);
        }
      },
      { signal },
    );
  }

  async #kill(tag: string, isRunning: () => boolean): Promise<void> {
    while (isRunning()) {
      // A statement that cannot be killed ends at its time limit.
      await this.#killer.query(sql('read_kill'), { tag }).catch(() => undefined);
      await sleep(KILL_EVERY_MS);
    }
  }
}

/** The store returned neither a result nor an error. */
function isSilence(error: unknown): error is StoreError {
  const isAway = error instanceof StoreError && error.code === 'store_unavailable';
  return isAway && clickhouseCode(error.cause) === undefined;
}

function overloaded(): StoreError {
  return new StoreError('overloaded', 'Too many reads are running. Try again.');
}
