import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '../store/connection.ts';
import { type StoreError, storeErrorFrom } from '../store/store-error.ts';
import type { Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';
import { UncertainInserts } from './uncertain-inserts.ts';
import type { Waiter } from './write-queue.ts';

export type BatchInsertOptions = {
  stream: Stream;
  columns: readonly string[];
  connection: Connection;
  identities: IdentityIndex;
};

type Outcomes = {
  onWritten: (waiter: Waiter) => void;
  onFailed: (waiter: Waiter, fault: StoreError) => void;
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

  /** Resolves when each waiter was reported as written or failed. */
  async insert(waiters: Waiter[]): Promise<void> {
    const token = randomUUID();
    try {
      await this.#write(waiters, token);
    } catch (error) {
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return this.#isolate(waiters, fault);
      return this.#retry(waiters, { token, fault });
    }
  }

  async #write(waiters: Waiter[], token: string): Promise<void> {
    const { stream, columns, connection, identities, onWritten } = this.#options;
    const lines = waiters.map(({ entry }) => entry.line);
    await connection.insert({ table: stream, columns, lines, token });
    identities.add(waiters.map(({ entry }) => entry.identity));
    waiters.forEach(onWritten);
  }

  /** Halves the batch until the row that the store rejects is alone. All other rows are written. */
  async #isolate(waiters: Waiter[], fault: StoreError): Promise<void> {
    const [only] = waiters;
    if (waiters.length === 1 && only !== undefined) return this.#options.onFailed(only, fault);
    const half = waiters.length >> 1;
    await this.insert(waiters.slice(0, half));
    await this.insert(waiters.slice(half));
  }

  /** After an insert of unknown outcome: looks which rows are there, and inserts the others again. */
  async #retry(waiters: Waiter[], { token, fault }: { token: string; fault: StoreError }): Promise<void> {
    let missing = waiters;
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
    for (const waiter of missing) this.#options.onFailed(waiter, fault);
  }

  /** Resolves with the waiters whose rows are not in the store. */
  async #reportWritten(waiters: Waiter[]): Promise<Waiter[]> {
    const written = await this.#uncertain.findWritten(waiters.map(({ entry }) => entry.identity));
    for (const waiter of waiters) if (written.has(waiter.key)) this.#options.onWritten(waiter);
    return waiters.filter(({ key }) => !written.has(key));
  }
}
