/**
 * Rows that are read from the network in a millisecond. A flush waits for no more rows than are read while it would
 * run: beyond them it gains more by starting, and the rest is read beside it.
 */
const ROWS_PER_MS = 15;
const GATHER_MS_MAX = 15;
/** After a pause this long nothing is expected to come back. */
const IDLE_MS = 50;

/** How many rows a flush should wait for, and for how long at most. */
export type GatherPlan = { rows: number; waitMs: number };

/**
 * Decides how long a flush gathers rows. A flush costs nearly the same for one row as for a hundred, and callers that
 * were just answered tend to send again at once: so the next flush waits for as many rows as there were callers, but
 * never longer than a flush takes.
 */
export class FlushPace {
  #expected = 0;
  #flushMs = 0;
  #lastFlushEndMs = Number.NEGATIVE_INFINITY;

  /** How long a flush takes; 0 as long as there was none. */
  get flushMs(): number {
    return this.#flushMs;
  }

  /** `rows` were settled by a flush of `tookMs`, while `queued` others came in. */
  flushed({
    rows,
    queued,
    tookMs,
    nowMs,
  }: {
    rows: number;
    queued: number;
    tookMs: number;
    nowMs: number;
  }): void {
    this.#expected = rows + queued;
    this.#flushMs = this.#flushMs === 0 ? tookMs : this.#flushMs * 0.8 + tookMs * 0.2;
    this.#lastFlushEndMs = nowMs;
  }

  plan(nowMs: number): GatherPlan {
    if (nowMs - this.#lastFlushEndMs > IDLE_MS) return { rows: 1, waitMs: 0 };
    return {
      rows: Math.min(this.#expected, Math.ceil(this.#flushMs * ROWS_PER_MS)),
      waitMs: Math.min(this.#flushMs, GATHER_MS_MAX),
    };
  }
}
