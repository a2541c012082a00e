import { WRITE_WAIT_MS_MAX } from '../limits.ts';
import { StoreError, storeErrorFrom } from '../store/store-error.ts';
import { BatchInsert, type BatchInsertOptions } from './batch-insert.ts';
import { type FlushInterval, FlushPace } from './flush-pace.ts';
import { PairMap } from './identity.ts';
import {
  type Entry,
  type QueueBounds,
  type Row,
  type RowResult,
  type Unit,
  WriteQueue,
  type WriteResult,
} from './write-queue.ts';

export type GroupCommitOptions = BatchInsertOptions &
  QueueBounds & {
    /** Undefined: a flush begins as soon as this is efficient for this process. */
    interval?: FlushInterval;
    /** Resolves when the store may be written to. */
    ready: () => Promise<void>;
    onFlush: (flush: { rows: number; seconds: number }) => void;
    onQueue: (rows: number) => void;
  };

const SWEEP_EVERY_MS = 250;

/**
 * Writes events in groups: those that arrive during a flush share the next one. The first write of an identity wins;
 * later ones resolve as duplicates once the first is durable.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #pace: FlushPace;
  /** Everything that is queued or being flushed, by identity. */
  readonly #pending = new PairMap<Row>();
  readonly #queue: WriteQueue;
  readonly #batches: BatchInsert;
  #running: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #gatherRows = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#pace = new FlushPace(options.interval);
    this.#queue = new WriteQueue(options, options.onQueue);
    this.#batches = new BatchInsert({
      ...options,
      onWritten: (row) => this.#settle(row, 'accepted'),
      onFailed: (row, fault) => this.#fail(row, fault),
    });
  }

  /**
   * Resolves when the row is durable. Rejects with row_rejected only for the row that the store rejects, with
   * store_unavailable, or at once with overloaded. `sinceMs` is when the caller began to wait, by performance.now().
   */
  async write(entry: Entry, sinceMs?: number): Promise<WriteResult> {
    const [result] = (await this.writeAll([entry], sinceMs)) as [RowResult];
    if (result instanceof StoreError) throw result;
    return result;
  }

  /** As `write`, for one or more rows: resolves with the result of each row once all accepted rows are durable. */
  writeAll(entries: readonly Entry[], sinceMs = performance.now()): Promise<RowResult[]> {
    return new Promise((resolve, reject) => {
      if (this.#queue.isFullFor(entries.length, this.#pace.flushMs)) {
        reject(new StoreError('overloaded', 'The write queue is full. Try again.'));
        return;
      }
      const { length: rows } = entries;
      const unit = { rows, sinceMs, results: [], open: rows, isSettled: false, resolve, reject };
      entries.forEach((entry, place) => this.#add({ entry, unit, place, followers: undefined }));
      this.#queue.pushed();
      this.#sweep ??= setInterval(() => this.#failOverdue(), SWEEP_EVERY_MS).unref();
      if (this.#gathered !== undefined && this.#queue.rows >= this.#gatherRows) this.#gathered();
      if (this.#queue.rows > 0) this.#running ??= this.#run();
    });
  }

  /** Resolves when everything accepted so far is settled. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#stopSweep();
  }

  #add(row: Row): void {
    const first = this.#pending.get(row.entry.identity);
    if (first !== undefined) return this.#queue.pushFollower(first, row);
    this.#pending.set(row.entry.identity, row);
    this.#queue.push(row);
  }

  async #run(): Promise<void> {
    // Everything that arrives in this turn of the event loop joins the first flush.
    await new Promise(setImmediate);
    while (this.#queue.rows > 0) {
      await this.#gather();
      const batch = this.#queue.takeBatch();
      const rows = batch.length;
      const startMs = performance.now();
      await this.#flush(batch);
      const nowMs = performance.now();
      const tookMs = nowMs - startMs;
      this.#options.onFlush({ rows, seconds: tookMs / 1000 });
      this.#pace.flushed({ rows, queued: this.#queue.rows, tookMs, nowMs });
      if (this.#queue.rows === 0) await new Promise(setImmediate);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    const { rows, waitMs } = this.#pace.plan(performance.now());
    this.#gatherRows = Math.min(rows, this.#options.batchRowsMax);
    if (this.#queue.rows >= this.#gatherRows || waitMs < 1) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      // Resolves during a burst, not after it: the engine works on these rows while the next requests are read.
      this.#gathered = () => {
        clearTimeout(timer);
        this.#gathered = undefined;
        resolve();
      };
    });
    this.#gathered = undefined;
  }

  async #flush(batch: Row[]): Promise<void> {
    const { identities, ready } = this.#options;
    try {
      await ready();
      await identities.open();
      await this.#batches.resolveUncertain();
      const known = await identities.findKnown(batch.map(({ entry }) => entry.identity));
      const fresh: Row[] = [];
      for (const row of batch) {
        if (known.has(row.entry.identity)) this.#settle(row, 'duplicate');
        else fresh.push(row);
      }
      if (fresh.length > 0) await this.#batches.insert(fresh);
    } catch (error) {
      const fault = storeErrorFrom(error);
      for (const row of batch) this.#fail(row, fault);
    }
  }

  #settle(row: Row, result: WriteResult): void {
    this.#pending.delete(row.entry.identity);
    for (const follower of this.#queue.takeFollowers(row)) report(follower, 'duplicate');
    report(row, result);
  }

  #fail(row: Row, fault: StoreError): void {
    // Already settled as a success: the batch failed because of its other rows.
    if (this.#pending.get(row.entry.identity) !== row) return;
    this.#pending.delete(row.entry.identity);
    const isRejected = fault.code === 'row_rejected';
    for (const follower of this.#queue.takeFollowers(row)) {
      // Another row with the same identity may be good, so it is tried separately.
      if (isRejected) this.#add(follower);
      else failUnit(follower.unit, fault);
    }
    if (isRejected) report(row, fault);
    else failUnit(row.unit, fault);
  }

  /** Rejects callers that have waited too long. Their queued rows are discarded; rows in a flush may still be written. */
  #failOverdue(): void {
    const sinceMs = performance.now() - WRITE_WAIT_MS_MAX;
    const fault = new StoreError(
      'store_unavailable',
      'The store did not accept the record in time. Try again.',
    );
    for (const row of this.#queue.takeOlderThan(sinceMs)) this.#fail(row, fault);
    for (const [, row] of this.#pending.entries()) {
      for (const { unit } of this.#queue.takeFollowers(row, sinceMs)) failUnit(unit, fault);
      if (row.unit.sinceMs <= sinceMs) failUnit(row.unit, fault);
    }
    if (this.#pending.size === 0) this.#stopSweep();
  }

  #stopSweep(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function report({ unit, place }: Row, result: RowResult): void {
  unit.results[place] = result;
  unit.open -= 1;
  if (unit.open > 0 || unit.isSettled) return;
  unit.isSettled = true;
  unit.resolve(unit.results);
}

/** Nothing in the unit is acknowledged, whatever happens to its other rows. */
function failUnit(unit: Unit, fault: StoreError): void {
  if (unit.isSettled) return;
  unit.isSettled = true;
  unit.reject(fault);
}
