import { QUEUE_WAIT_MS_MAX } from '../limits.ts';
import type { StoreError } from '../store/store-error.ts';
import type { Identity } from './identity.ts';

/** A row to write: the identity of its event, and its values as a line of JSONCompactEachRow. */
export type Entry = { identity: Identity; line: string };

/** `duplicate`: an earlier row with the same identity is the record. */
export type WriteResult = 'accepted' | 'duplicate';

/** A caller that waits for its row, and the callers after it that sent the same identity. */
export type Waiter = {
  key: string;
  entry: Entry;
  sinceMs: number;
  isSettled: boolean;
  followers: Follower[];
  resolve: (result: WriteResult) => void;
  reject: (error: StoreError) => void;
};
export type Follower = Pick<Waiter, 'entry' | 'sinceMs' | 'resolve' | 'reject'>;

export type QueueBounds = { batchRowsMax: number; queueRowsMax: number; queueBytesMax: number };

const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/** The rows that wait for a flush, in order of arrival. Followers count towards the bounds, but are never flushed. */
export class WriteQueue {
  readonly #bounds: QueueBounds;
  readonly #onRows: (rows: number) => void;
  #waiters: Waiter[] = [];
  #followers = 0;
  #bytes = 0;

  constructor(bounds: QueueBounds, onRows: (rows: number) => void) {
    this.#bounds = bounds;
    this.#onRows = onRows;
  }

  get rows(): number {
    return this.#waiters.length;
  }

  /** Also full when the expected wait is too long: a 503 at once is better than one after a wait. */
  isFull(flushMs: number): boolean {
    const { queueRowsMax, queueBytesMax, batchRowsMax } = this.#bounds;
    if (this.rows + this.#followers >= queueRowsMax || this.#bytes >= queueBytesMax) return true;
    // A row waits for the running flush and for those before its own.
    return this.rows >= batchRowsMax && flushMs * (this.rows / batchRowsMax + 1) > QUEUE_WAIT_MS_MAX;
  }

  push(waiter: Waiter): void {
    this.#waiters.push(waiter);
    this.#bytes += waiter.entry.line.length;
    this.#onRows(this.rows);
  }

  pushFollower(waiter: Waiter, follower: Follower): void {
    waiter.followers.push(follower);
    this.#followers += 1;
    this.#bytes += follower.entry.line.length;
  }

  /** Removes and returns the followers of a waiter, or only those that have waited since `sinceMs` or longer. */
  takeFollowers(waiter: Waiter, sinceMs = Number.POSITIVE_INFINITY): Follower[] {
    const taken = waiter.followers.filter((follower) => follower.sinceMs <= sinceMs);
    if (taken.length === 0) return taken;
    waiter.followers = waiter.followers.filter((follower) => follower.sinceMs > sinceMs);
    this.#followers -= taken.length;
    for (const { entry } of taken) this.#bytes -= entry.line.length;
    return taken;
  }

  /** Removes and returns the oldest waiters, as many as one insert may hold. */
  takeBatch(): Waiter[] {
    let bytes = 0;
    let rows = 0;
    const rowsMax = Math.min(this.rows, this.#bounds.batchRowsMax);
    while (rows < rowsMax && (rows === 0 || bytes < BATCH_BYTES_MAX)) {
      bytes += this.#waiters[rows]?.entry.line.length ?? 0;
      rows += 1;
    }
    const batch = this.#waiters.slice(0, rows);
    this.#waiters = this.#waiters.slice(rows);
    this.#bytes -= bytes;
    this.#onRows(this.rows);
    return batch;
  }

  /** Removes and returns the waiters that have waited since `sinceMs` or longer. */
  takeOlderThan(sinceMs: number): Waiter[] {
    const old = this.#waiters.filter((waiter) => waiter.sinceMs <= sinceMs);
    if (old.length === 0) return old;
    this.#waiters = this.#waiters.filter((waiter) => waiter.sinceMs > sinceMs);
    for (const { entry } of old) this.#bytes -= entry.line.length;
    this.#onRows(this.rows);
    return old;
  }
}
