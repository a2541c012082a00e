import { QUEUE_WAIT_MS_MAX } from '../limits.ts';
import type { RequestError } from '../errors.ts';
import type { Identity } from './identity.ts';

/** An event on its way to the store: its identity and its row as a line of JSONCompactEachRow. */
export type Entry = { identity: Identity; line: string };

/** What became of a write: this row is the record, or there was one before it. */
export type WriteResult = 'accepted' | 'duplicate';

/** A caller whose event is on its way, and those who came after it with the same identity. */
export type Waiter = {
  key: string;
  entry: Entry;
  sinceMs: number;
  isSettled: boolean;
  followers: Follower[];
  resolve: (result: WriteResult) => void;
  reject: (error: RequestError) => void;
};
export type Follower = Pick<Waiter, 'entry' | 'sinceMs' | 'resolve' | 'reject'>;

export type QueueBounds = { batchRowsMax: number; queueRowsMax: number; queueBytesMax: number };

const BATCH_BYTES_MAX = 32 * 1024 * 1024;

/**
 * What waits for a flush, in the order of arrival, bounded by rows, bytes and the time it would wait. Followers of a row
 * count with the rest, though they have no place in the order.
 */
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

  /** Full is what would keep a row waiting for long, too: no 503 after a wait where one can be given at once. */
  isFull(flushMs: number): boolean {
    const { queueRowsMax, queueBytesMax, batchRowsMax } = this.#bounds;
    if (this.rows + this.#followers >= queueRowsMax || this.#bytes >= queueBytesMax) return true;
    // Behind the flush that runs, and those before its own.
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

  /** Takes out those that followed this one, all or the ones that have waited since `sinceMs` or longer. */
  takeFollowers(waiter: Waiter, sinceMs = Number.POSITIVE_INFINITY): Follower[] {
    const taken = waiter.followers.filter((follower) => follower.sinceMs <= sinceMs);
    if (taken.length === 0) return taken;
    waiter.followers = waiter.followers.filter((follower) => follower.sinceMs > sinceMs);
    this.#followers -= taken.length;
    for (const { entry } of taken) this.#bytes -= entry.line.length;
    return taken;
  }

  /** The oldest, as many as one insert may carry. */
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

  /** Takes out what has waited since `sinceMs` or longer. */
  takeOlderThan(sinceMs: number): Waiter[] {
    const old = this.#waiters.filter((waiter) => waiter.sinceMs <= sinceMs);
    if (old.length === 0) return old;
    this.#waiters = this.#waiters.filter((waiter) => waiter.sinceMs > sinceMs);
    for (const { entry } of old) this.#bytes -= entry.line.length;
    this.#onRows(this.rows);
    return old;
  }
}
