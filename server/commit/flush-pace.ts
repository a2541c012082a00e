/**
 * The approximate number of rows read from the network per millisecond. A flush waits for no more rows than are read during a flush. Beyond
 * that, starting gains more than waiting, because the other rows are read while it runs.
 */
const ROWS_PER_MS = 15;
const GATHER_MS_MAX = 15;
/** After a pause this long, callers are not expected to send again at once. */
const IDLE_MS = 50;

/** At most one flush in `intervalMs` begins with fewer than `rowsMin` rows. */
export type FlushInterval = { intervalMs: number; rowsMin: number };

/** How many rows a flush should wait for, and for how long at most. */
type GatherPlan = { rows: number; waitMs: number };

/** A flush of `rows` that took `tookMs`, during which `queued` other rows arrived. */
type Flush = { rows: number; queued: number; tookMs: number; nowMs: number };

/**
 * Decides how long to gather rows before a flush. A flush of one row costs nearly as much as one of a hundred, and callers that were just
 * answered tend to send again at once. So the next flush waits for as many rows as there were callers, but never longer than a flush takes.
 */
export class FlushPace {
  readonly #interval: FlushInterval;
  #expected = 0;
  #flushMs = 0;
  #lastFlushStartMs = Number.NEGATIVE_INFINITY;
  #lastFlushEndMs = Number.NEGATIVE_INFINITY;

  constructor(interval: FlushInterval = { intervalMs: 0, rowsMin: 1 }) {
    this.#interval = interval;
  }

  /** The average duration of a flush; 0 before the first one. */
  get flushMs(): number {
    return this.#flushMs;
  }

  flushed({ rows, queued, tookMs, nowMs }: Flush): void {
    this.#expected = rows + queued;
    this.#flushMs = this.#flushMs === 0 ? tookMs : this.#flushMs * 0.8 + tookMs * 0.2;
    this.#lastFlushStartMs = nowMs - tookMs;
    this.#lastFlushEndMs = nowMs;
  }

  plan(nowMs: number): GatherPlan {
    const restMs = this.#lastFlushStartMs + this.#interval.intervalMs - nowMs;
    if (restMs > 0) return { rows: this.#interval.rowsMin, waitMs: restMs };
    if (nowMs - this.#lastFlushEndMs > IDLE_MS) return { rows: 1, waitMs: 0 };
    return {
      rows: Math.min(this.#expected, Math.ceil(this.#flushMs * ROWS_PER_MS)),
      waitMs: Math.min(this.#flushMs, GATHER_MS_MAX),
    };
  }
}
