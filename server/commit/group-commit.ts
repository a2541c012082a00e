import { WRITE_WAIT_MS_MAX } from '../limits.ts';
import { StoreError, storeErrorFrom } from '../store/store-error.ts';
import { BatchInsert, type BatchInsertOptions } from './batch-insert.ts';
import { FlushPace } from './flush-pace.ts';
import { keyOf } from './identity.ts';
import { type Entry, type QueueBounds, type Waiter, WriteQueue, type WriteResult } from './write-queue.ts';

export type GroupCommitOptions = BatchInsertOptions &
  QueueBounds & {
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
  readonly #pace = new FlushPace();
  /** By identity: everything queued or being flushed. */
  readonly #pending = new Map<string, Waiter>();
  readonly #queue: WriteQueue;
  readonly #batches: BatchInsert;
  #running: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #gatherRows = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#queue = new WriteQueue(options, options.onQueue);
    this.#batches = new BatchInsert({
      ...options,
      onWritten: (waiter) => this.#settle(waiter, 'accepted'),
      onFailed: (waiter, fault) => this.#fail(waiter, fault),
    });
  }

  /**
   * Resolves when the row is durable. Rejects with row_rejected only for the row that the store rejects, with
   * store_unavailable, or at once with overloaded. `sinceMs` is when the caller began to wait, by performance.now().
   */
  write(entry: Entry, sinceMs = performance.now()): Promise<WriteResult> {
    const key = keyOf(entry.identity);
    return new Promise((resolve, reject) => {
      if (this.#queue.isFull(this.#pace.flushMs)) {
        reject(new StoreError('overloaded', 'The write queue is full. Try again.'));
        return;
      }
      const first = this.#pending.get(key);
      if (first !== undefined) this.#queue.pushFollower(first, { entry, sinceMs, resolve, reject });
      else this.#enqueue({ key, entry, sinceMs, isSettled: false, followers: [], resolve, reject });
    });
  }

  /** Resolves when everything accepted so far is settled. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    this.#stopSweep();
  }

  #enqueue(waiter: Waiter): void {
    this.#pending.set(waiter.key, waiter);
    this.#queue.push(waiter);
    this.#sweep ??= setInterval(() => this.#failOverdue(), SWEEP_EVERY_MS).unref();
    if (this.#gathered !== undefined && this.#queue.rows >= this.#gatherRows) this.#gathered();
    this.#running ??= this.#run();
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

  async #flush(batch: Waiter[]): Promise<void> {
    const { identities, ready } = this.#options;
    try {
      await ready();
      await identities.open();
      await this.#batches.resolveUncertain();
      const known = await identities.findKnown(batch.map(({ entry }) => entry.identity));
      const fresh: Waiter[] = [];
      for (const waiter of batch) {
        if (known.has(waiter.key)) this.#settle(waiter, 'duplicate');
        else fresh.push(waiter);
      }
      if (fresh.length > 0) await this.#batches.insert(fresh);
    } catch (error) {
      const fault = storeErrorFrom(error);
      for (const waiter of batch)
        this.#fail(waiter, fault.code === 'row_rejected' ? unavailable(fault) : fault);
    }
  }

  #settle(waiter: Waiter, result: WriteResult): void {
    this.#pending.delete(waiter.key);
    for (const follower of this.#queue.takeFollowers(waiter)) follower.resolve('duplicate');
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.resolve(result);
  }

  #fail(waiter: Waiter, fault: StoreError): void {
    // Already settled by success: the batch failed for its other rows.
    if (this.#pending.get(waiter.key) !== waiter) return;
    this.#pending.delete(waiter.key);
    for (const { entry, sinceMs, resolve, reject } of this.#queue.takeFollowers(waiter)) {
      // Another row with the same identity may be good: it is tried on its own.
      if (fault.code === 'row_rejected') this.write(entry, sinceMs).then(resolve, reject);
      else reject(fault);
    }
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.reject(fault);
  }

  /** Rejects callers that have waited too long. Their queued rows are discarded; rows in a flush may still be written. */
  #failOverdue(): void {
    const sinceMs = performance.now() - WRITE_WAIT_MS_MAX;
    const fault = unavailable(undefined);
    for (const waiter of this.#queue.takeOlderThan(sinceMs)) this.#fail(waiter, fault);
    for (const waiter of this.#pending.values()) {
      for (const { reject } of this.#queue.takeFollowers(waiter, sinceMs)) reject(fault);
      if (waiter.sinceMs > sinceMs || waiter.isSettled) continue;
      waiter.isSettled = true;
      waiter.reject(fault);
    }
    if (this.#pending.size === 0) this.#stopSweep();
  }

  #stopSweep(): void {
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }
}

function unavailable(cause: unknown): StoreError {
  return new StoreError(
    'store_unavailable',
    'The store did not accept the record in time. Try again.',
    cause,
  );
}
