import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../store/connection.ts';
import { type StoreError, storeErrorFrom } from '../store/store-error.ts';
import type { Flushes } from './flush-numbers.ts';
import { keyOf, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';
import { UncertainInserts } from './uncertain-inserts.ts';
import type { Row } from './write-queue.ts';

export type BatchInsertOptions = {
  stream: Stream;
  columns: readonly string[];
  connection: Connection;
  identities: IdentityIndex;
  /** Set when the rows enter the log. */
  flushes?: Flushes | undefined;
};

/** What one insert and its repetitions have in common. */
type Attempt = { token: string; flush: bigint | undefined };

type Outcomes = {
  onWritten: (row: Row) => void;
  onFailed: (row: Row, fault: StoreError) => void;
};

const RETRY_AFTER_MS = [50, 300] as const;

/** Inserts batches of rows. One bad row does not fail the others, and an unknown outcome is found out. */
export class BatchInsert {
  readonly #options: BatchInsertOptions & Outcomes;
  readonly #uncertain: UncertainInserts;

  constructor(options: BatchInsertOptions & Outcomes) {
    this.#options = options;
    this.#uncertain = new UncertainInserts(options);
  }

  /** Finds out what earlier inserts of unknown outcome have written. */
  resolveUncertain(): Promise<void> {
    return this.#uncertain.resolve();
  }

  /** Resolves when each row was reported as written or failed. */
  async insert(rows: Row[]): Promise<void> {
    const { flushes, identities } = this.#options;
    const attempt = { token: randomUUID(), flush: flushes?.next() };
    let isSettled = false;
    try {
      await this.#write(rows, attempt);
      isSettled = true;
    } catch (error) {
      identities.doubt();
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return await this.#isolate(rows, fault);
      isSettled = await this.#retry(rows, { ...attempt, fault });
    } finally {
      if (attempt.flush !== undefined) flushes?.ended(attempt.flush, isSettled);
    }
  }

  async #write(rows: Row[], { token, flush }: Attempt): Promise<void> {
    const { stream, columns, connection, identities, onWritten } = this.#options;
    const lines = rows.map(({ entry }) => entry.line);
    const last = flush?.toString();
    await connection.insert({ table: stream, columns, lines, token, last });
    identities.add(rows.map(({ entry }) => entry.identity));
    rows.forEach(onWritten);
  }

  /** Halves the batch until the row that the store rejects is alone. All other rows are written. */
  async #isolate(rows: Row[], fault: StoreError): Promise<void> {
    const [only] = rows;
    if (rows.length === 1 && only !== undefined) return this.#options.onFailed(only, fault);
    const half = rows.length >> 1;
    await this.insert(rows.slice(0, half));
    await this.insert(rows.slice(half));
  }

  /** After an insert of unknown outcome: looks which rows are there, and inserts the others again. Resolves with whether all are. */
  async #retry(rows: Row[], { fault, ...attempt }: Attempt & { fault: StoreError }): Promise<boolean> {
    let missing = rows;
    for (const waitMs of RETRY_AFTER_MS) {
      await sleep(waitMs);
      try {
        missing = await this.#reportWritten(missing);
        if (missing.length > 0) await this.#write(missing, attempt);
        return true;
      } catch (error) {
        const latest = storeErrorFrom(error);
        if (latest.code === 'row_rejected') {
          await this.#isolate(missing, latest);
          return false;
        }
      }
    }
    this.#uncertain.add(missing.map(({ entry }) => entry.identity));
    for (const row of missing) this.#options.onFailed(row, fault);
    return false;
  }

  /** Resolves with the rows that are not in the store. */
  async #reportWritten(rows: Row[]): Promise<Row[]> {
    const written = await this.#uncertain.findWritten(rows.map(({ entry }) => entry.identity));
    for (const row of rows) if (written.has(keyOf(row.entry.identity))) this.#options.onWritten(row);
    return rows.filter(({ entry }) => !written.has(keyOf(entry.identity)));
  }
}
