const FREE = 0;
const ALTERED = -1;

/** Indexes that no record holds: from `from` to before `to`, and when the records with the nearest indexes were received. */
export type Gap = { from: number; to: number; afterMs: number; beforeMs: number };

/** Which record holds each index of a log, in 8 bytes per index. */
export class Holders {
  /** When the record that holds an index was received, in milliseconds since the epoch. */
  readonly #receivedMs: Float64Array;
  /** A free index from here on may belong to a record that is younger than the export. */
  #newFrom: number;

  constructor(size: number) {
    this.#receivedMs = new Float64Array(size);
    this.#newFrom = size;
  }

  isHeld(index: number): boolean {
    return (this.#receivedMs[index] ?? FREE) > 0;
  }

  hold(index: number, receivedMs: number): void {
    this.#receivedMs[index] = receivedMs;
  }

  /** An altered record takes the place of the one that entered the log here. */
  markAltered(index: number): void {
    this.#receivedMs[index] = ALTERED;
  }

  /** The first free index from `from` on; undefined if there is none. */
  firstFree(from: number): number | undefined {
    const index = this.#receivedMs.indexOf(FREE, from);
    return index < 0 ? undefined : index;
  }

  /** A record that holds an index and was received before `oldMs` proves that all earlier ones are older than the export. */
  allowNewFrom(size: number, oldMs: number): void {
    const lastOld = this.#receivedMs.findLastIndex((receivedMs) => receivedMs > 0 && receivedMs < oldMs);
    this.#newFrom = Math.max(size, lastOld + 1);
  }

  get newcomers(): number {
    return this.#receivedMs.subarray(this.#newFrom).filter((receivedMs) => receivedMs === FREE).length;
  }

  /** Excludes the newcomers. */
  gaps(): Gap[] {
    const gaps: Gap[] = [];
    let afterMs = Number.NEGATIVE_INFINITY;
    // The gaps since the last held index. The time of the next received record is not known yet.
    let open = 0;
    this.#receivedMs.forEach((receivedMs, index) => {
      const last = gaps.at(-1);
      if (receivedMs === FREE) {
        if (index >= this.#newFrom) return;
        if (last?.to === index) last.to += 1;
        else gaps.push({ from: index, to: index + 1, afterMs, beforeMs: Number.POSITIVE_INFINITY });
      } else if (receivedMs > 0) {
        for (const gap of gaps.slice(open)) gap.beforeMs = receivedMs;
        open = gaps.length;
        afterMs = receivedMs;
      }
    });
    return gaps;
  }
}
