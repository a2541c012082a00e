import { QUEUE_WAIT_MS_MAX } from '../limits.ts';
import type { StoreError } from '../store/store-error.ts';
import type { Identity } from './identity.ts';

/** A row to write: the identity of its event, and its values as a line of JSONCompactEachRow. */
export type Entry = { identity: Identity; line: string };

/** `duplicate`: an earlier row with the same identity is the record. */
export type WriteResult = 'accepted' | 'duplicate';
/** What became of a row. An error is always row_rejected: any other fails the whole unit. */
export type RowResult = WriteResult | StoreError;

/** The rows of one caller. They share a flush where its bounds allow it, and are answered together. */
export type Unit = {
  sinceMs: number;
  /** By place in the unit. */
  results: RowResult[];
  /** Rows without a result. */
  open: number;
  isSettled: boolean;
  resolve: (results: RowResult[]) => void;
  reject: (error: StoreError) => void;
};

/** A row, and the later ones with the same identity, which wait for its result. */
export type Row = {
  entry: Entry;
  unit: Unit;
  place: number;
  followers: Row[] | undefined;
};

export type QueueBounds = { batchRowsMax: number; queueRowsMax: number; queueBytesMax: number };

const INSERT_BYTES_MAX = 32 * 1024 * 1024;

/** The rows that wait for a flush, in order of arrival. Followers count towards the bounds, but are never flushed. */
export class WriteQueue {
  readonly #bounds: QueueBounds;
  readonly #onRows: (rows: number) => void;
  #waiting: Row[] = [];
  #followers = 0;
  #bytes = 0;

  constructor(bounds: QueueBounds, onRows: (rows: number) => void) {
    this.#bounds = bounds;
    this.#onRows = onRows;
  }

  get rows(): number {
    return this.#waiting.length;
  }

  /**
   * Whether so many more rows go beyond the bounds; an empty queue takes any unit. Also when the expected wait is too long:
   * a 503 at once is better than one after a wait.
   */
  isFullFor(more: number, flushMs: number): boolean {
    const { queueRowsMax, queueBytesMax, batchRowsMax } = this.#bounds;
    const held = this.rows + this.#followers;
    if ((held > 0 && held + more > queueRowsMax) || this.#bytes >= queueBytesMax) return true;
    // A row waits for the running flush and for those before its own.
    return this.rows >= batchRowsMax && flushMs * (this.rows / batchRowsMax + 1) > QUEUE_WAIT_MS_MAX;
  }

  push(row: Row): void {
    this.#waiting.push(row);
    this.#bytes += row.entry.line.length;
  }

  /** Reports the number of rows. To do so for each row of a unit would cost more than to add it. */
  pushed(): void {
    this.#onRows(this.rows);
  }

  pushFollower(row: Row, follower: Row): void {
    (row.followers ??= []).push(follower);
    this.#followers += 1;
    this.#bytes += follower.entry.line.length;
  }

  /** Removes and returns the followers of a row, or only those that have waited since `sinceMs` or longer. */
  takeFollowers(row: Row, sinceMs = Number.POSITIVE_INFINITY): Row[] {
    if (row.followers === undefined) return [];
    const taken = row.followers.filter(({ unit }) => unit.sinceMs <= sinceMs);
    row.followers = row.followers.filter(({ unit }) => unit.sinceMs > sinceMs);
    this.#followers -= taken.length;
    for (const { entry } of taken) this.#bytes -= entry.line.length;
    return taken;
  }

  /** Removes and returns the oldest rows, as many as one insert may hold. Only a unit that is larger is divided. */
  takeBatch(): Row[] {
    const rows = this.#wholeUnits(this.#rowsThatFit());
    const batch = this.#waiting.slice(0, rows);
    this.#waiting = this.#waiting.slice(rows);
    for (const { entry } of batch) this.#bytes -= entry.line.length;
    this.#onRows(this.rows);
    return batch;
  }

  #rowsThatFit(): number {
    let bytes = 0;
    let rows = 0;
    const rowsMax = Math.min(this.rows, this.#bounds.batchRowsMax);
    while (rows < rowsMax && (rows === 0 || bytes < INSERT_BYTES_MAX)) {
      bytes += this.#waiting[rows]?.entry.line.length ?? 0;
      rows += 1;
    }
    return rows;
  }

  #wholeUnits(rowsMax: number): number {
    let rows = rowsMax;
    while (rows > 0 && this.#waiting[rows]?.unit === this.#waiting[rows - 1]?.unit) rows -= 1;
    return rows === 0 ? rowsMax : rows;
  }

  /** Removes and returns the rows that have waited since `sinceMs` or longer. */
  takeOlderThan(sinceMs: number): Row[] {
    const old = this.#waiting.filter(({ unit }) => unit.sinceMs <= sinceMs);
    if (old.length === 0) return old;
    this.#waiting = this.#waiting.filter(({ unit }) => unit.sinceMs > sinceMs);
    for (const { entry } of old) this.#bytes -= entry.line.length;
    this.#onRows(this.rows);
    return old;
  }
}
