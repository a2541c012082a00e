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
  /** How long the store gathers rows of other processes into the same part; 0 or undefined: not at all. */
  mergeMs?: number;
  /** Set if the rows enter the log. */
  flushes?: Flushes | undefined;
};

/** The values that one insert and its repetitions share. */
type Attempt = { token: string | undefined; flush: bigint | undefined };
type Failed = Attempt & { fault: StoreError };

type Outcomes = { onWritten: (row: Row) => void; onFailed: (row: Row, fault: StoreError) => void };

const RETRY_AFTER_MS = [50, 300] as const;
/** A cluster gathers twice: on the node that receives the insert, and on each shard. */
const MERGES = 2;

/** Inserts batches of rows. One bad row does not fail the others, and an unknown outcome is resolved. */
export class BatchInsert {
  readonly #options: BatchInsertOptions & Outcomes;
  readonly #uncertain: UncertainInserts;
  readonly #mergeMs: number;

  constructor(options: BatchInsertOptions & Outcomes) {
    this.#options = options;
    this.#mergeMs = options.mergeMs ?? 0;
    this.#uncertain = new UncertainInserts(options);
  }

  /** Finds out which rows earlier inserts of unknown outcome have written. */
  resolveUncertain(): Promise<void> {
    return this.#uncertain.resolve();
  }

  /** Resolves once each row has been reported as written or failed. `isAlone`: no row of another process shares the insert. */
  async insert(rows: Row[], isAlone = this.#mergeMs === 0): Promise<void> {
    const { flushes, identities } = this.#options;
    const attempt = { token: isAlone ? randomUUID() : undefined, flush: flushes?.next() };
    let isSettled = false;
    try {
      await this.#write(rows, attempt);
      isSettled = true;
    } catch (error) {
      identities.doubt();
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return await this.#isolate(rows, { ...attempt, fault });
      isSettled = await this.#retry(rows, { ...attempt, fault });
    } finally {
      if (attempt.flush !== undefined) {
        const projects = new Set(rows.map(({ entry }) => entry.identity.project_id));
        flushes?.ended(attempt.flush, { isSettled, projects });
      }
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
  async #isolate(rows: Row[], { token, fault }: Failed): Promise<void> {
    // The bad row may belong to another process.
    if (token === undefined) return this.insert(rows, true);
    const [only] = rows;
    if (rows.length === 1 && only !== undefined) return this.#options.onFailed(only, fault);
    const half = rows.length >> 1;
    await this.insert(rows.slice(0, half), true);
    await this.insert(rows.slice(half), true);
  }

  /**
   * After an insert of unknown outcome: finds the rows that are there, and inserts the others again. Resolves with whether all rows are
   * there and none can arrive twice.
   */
  async #retry(rows: Row[], { fault, ...attempt }: Failed): Promise<boolean> {
    let missing = rows;
    for (const waitMs of RETRY_AFTER_MS) {
      // The store may write what it has gathered even if the connection broke.
      await sleep(waitMs + MERGES * this.#mergeMs);
      try {
        missing = await this.#reportWritten(missing);
        if (missing.length > 0) await this.#write(missing, attempt);
        return attempt.token !== undefined;
      } catch (error) {
        const latest = storeErrorFrom(error);
        if (latest.code === 'row_rejected') {
          await this.#isolate(missing, { ...attempt, fault: latest });
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
