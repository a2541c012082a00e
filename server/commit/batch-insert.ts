import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../store/connection.ts';
import { type StoreError, storeErrorFrom } from '../store/store-error.ts';
import { keyOf, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';
import { UncertainInserts } from './uncertain-inserts.ts';
import type { Row } from './write-queue.ts';

export type BatchInsertOptions = {
  stream: Stream;
  columns: readonly string[];
  connection: Connection;
  identities: IdentityIndex;
};

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
    const token = randomUUID();
    try {
      await this.#write(rows, token);
    } catch (error) {
      this.#options.identities.doubt();
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return this.#isolate(rows, fault);
      return this.#retry(rows, { token, fault });
    }
  }

  async #write(rows: Row[], token: string): Promise<void> {
    const { stream, columns, connection, identities, onWritten } = this.#options;
    const lines = rows.map(({ entry }) => entry.line);
    await connection.insert({ table: stream, columns, lines, token });
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

  /** After an insert of unknown outcome: looks which rows are there, and inserts the others again. */
  async #retry(rows: Row[], { token, fault }: { token: string; fault: StoreError }): Promise<void> {
    let missing = rows;
    for (const waitMs of RETRY_AFTER_MS) {
      await sleep(waitMs);
      try {
        missing = await this.#reportWritten(missing);
        if (missing.length > 0) await this.#write(missing, token);
        return;
      } catch (error) {
        const latest = storeErrorFrom(error);
        if (latest.code === 'row_rejected') return this.#isolate(missing, latest);
      }
    }
    this.#uncertain.add(missing.map(({ entry }) => entry.identity));
    for (const row of missing) this.#options.onFailed(row, fault);
  }

  /** Resolves with the rows that are not in the store. */
  async #reportWritten(rows: Row[]): Promise<Row[]> {
    const written = await this.#uncertain.findWritten(rows.map(({ entry }) => entry.identity));
    for (const row of rows) if (written.has(keyOf(row.entry.identity))) this.#options.onWritten(row);
    return rows.filter(({ entry }) => !written.has(keyOf(entry.identity)));
  }
}
