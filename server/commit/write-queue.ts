import { INSERT_BYTES_MAX, QUEUE_WAIT_MS_MAX } from '../limits.ts';
import { bytesOf, Lane } from './lane.ts';
import { inMemory } from '../memory.ts';
import type { StoreError } from '../store/store-error.ts';
import type { Identity } from './identity.ts';

/** A row to write: the identity of its event, and its values as a line of JSONCompactEachRow. */
export type Entry = { identity: Identity; line: string };

/** `duplicate`: an earlier row with the same identity is the record. */
export type WriteResult = 'accepted' | 'duplicate';
/** The outcome of a row. An error is always row_rejected: any other error fails the whole unit. */
export type RowResult = WriteResult | StoreError;

/** The rows of one caller. They share a flush if its bounds allow it, and are answered together. */
export type Unit = {
  rows: number;
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
export type Row = { entry: Entry; unit: Unit; place: number; followers: Row[] | undefined };

export type QueueBounds = { batchRowsMax: number; queueRowsMax: number; queueBytesMax: number };

/** The most rows of larger units in a flush that single callers wait for, because such rows make it longer. At least one unit is taken. */
const TOGETHER_BESIDE_SINGLE = 500;
/**
 * This many single callers in one flush form a stream: they send again within STREAM_MS. They wait for fewer rows of larger units, which
 * are divided for this purpose.
 */
const STREAM_ROWS = 16;
const STREAM_MS = 200;
const TOGETHER_BESIDE_STREAM = 128;
/** The limit in bytes, even if that divides a unit: the store takes about 10 ms for them. */
const TOGETHER_BYTES_BESIDE_SINGLE = 1024 * 1024;
const INSERT_BYTES = inMemory(INSERT_BYTES_MAX);

/** The rows that wait for a flush. Followers count towards the bounds, but are never flushed. */
export class WriteQueue {
  readonly #bounds: QueueBounds;
  readonly #onRows: (rows: number) => void;
  /** Rows with a single caller each, and rows of larger units. */
  readonly #lanes = { single: new Lane(), together: new Lane() };
  readonly #followers = { rows: 0, bytes: 0 };
  #hadSingle = false;
  #lastStreamMs = Number.NEGATIVE_INFINITY;

  constructor(bounds: QueueBounds, onRows: (rows: number) => void) {
    this.#bounds = bounds;
    this.#onRows = onRows;
  }

  get rows(): number {
    return this.#lanes.single.rows + this.#lanes.together.rows;
  }

  get #bytes(): number {
    return this.#lanes.single.bytes + this.#lanes.together.bytes + this.#followers.bytes;
  }

  /**
   * Whether this many more rows exceed the bounds; an empty queue takes any unit. Also full when the expected wait is too long: an
   * immediate 503 is better than one after a wait.
   */
  isFullFor(more: number, flushMs: number): boolean {
    const { queueRowsMax, queueBytesMax, batchRowsMax } = this.#bounds;
    const held = this.rows + this.#followers.rows;
    if ((held > 0 && held + more > queueRowsMax) || this.#bytes >= queueBytesMax) return true;
    // A row waits for the running flush and for those before its own.
    return this.rows >= batchRowsMax && flushMs * (this.rows / batchRowsMax + 1) > QUEUE_WAIT_MS_MAX;
  }

  push(row: Row): void {
    const { single, together } = this.#lanes;
    (row.unit.rows === 1 ? single : together).push(row);
  }

  /** Reports the number of rows. Doing so for each row of a unit would cost more than adding it. */
  pushed(): void {
    this.#onRows(this.rows);
  }

  pushFollower(row: Row, follower: Row): void {
    (row.followers ??= []).push(follower);
    this.#followers.rows += 1;
    this.#followers.bytes += follower.entry.line.length;
  }

  /** Removes and returns the followers of a row, or only those that have waited since `sinceMs` or longer. */
  takeFollowers(row: Row, sinceMs = Number.POSITIVE_INFINITY): Row[] {
    if (row.followers === undefined) return [];
    const taken = row.followers.filter(({ unit }) => unit.sinceMs <= sinceMs);
    row.followers = row.followers.filter(({ unit }) => unit.sinceMs > sinceMs);
    this.#followers.rows -= taken.length;
    this.#followers.bytes -= bytesOf(taken);
    return taken;
  }

  /**
   * Removes and returns the rows of the next insert, the oldest of each lane. Single callers wait for no more than a few larger units, and
   * a stream of them only for a part of one. Otherwise, units are divided only if a single one is too large.
   */
  takeBatch(nowMs = performance.now()): Row[] {
    const { single, together } = this.#lanes;
    const { batchRowsMax } = this.#bounds;
    const shareMax = Math.min(together.rows, TOGETHER_BESIDE_SINGLE, batchRowsMax >> 1);
    const batch = single.take({ rowsMax: batchRowsMax - shareMax, bytesMax: INSERT_BYTES });
    if (batch.length >= STREAM_ROWS) this.#lastStreamMs = nowMs;
    const isStream = nowMs - this.#lastStreamMs < STREAM_MS;
    // Single callers who were answered by the last flush are about to send again.
    const isShared = isStream || batch.length > 0 || this.#hadSingle;
    this.#hadSingle = batch.length > 0;
    const rest = batchRowsMax - batch.length;
    const besideMax = isStream ? TOGETHER_BESIDE_STREAM : TOGETHER_BESIDE_SINGLE;
    const rowsMax = isShared ? Math.min(rest, besideMax) : rest;
    const bytesMax = Math.min(
      INSERT_BYTES - bytesOf(batch),
      isShared ? TOGETHER_BYTES_BESIDE_SINGLE : Number.POSITIVE_INFINITY,
    );
    const unitRowsMax = isStream ? rowsMax : rest;
    const more = bytesMax > 0 ? together.take({ rowsMax, bytesMax, unitRowsMax }) : [];
    this.#onRows(this.rows);
    return batch.concat(more);
  }

  /** Removes and returns the rows that have waited since `sinceMs` or longer. */
  takeOlderThan(sinceMs: number): Row[] {
    const { single, together } = this.#lanes;
    const old = [...single.takeOlderThan(sinceMs), ...together.takeOlderThan(sinceMs)];
    if (old.length > 0) this.#onRows(this.rows);
    return old;
  }
}
