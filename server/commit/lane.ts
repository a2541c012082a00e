import type { Row } from './write-queue.ts';

/** The limits of one take. The first unit may have up to `unitRowsMax` rows, even if that exceeds `rowsMax`. */
type Take = { rowsMax: number; bytesMax: number; unitRowsMax?: number };

/** Rows in order of arrival. */
export class Lane {
  #waiting: Row[] = [];
  bytes = 0;

  get rows(): number {
    return this.#waiting.length;
  }

  push(row: Row): void {
    this.#waiting.push(row);
    this.bytes += row.entry.line.length;
  }

  /** Removes and returns the oldest rows. Divides a unit only if it is the first and does not fit. */
  take({ rowsMax, bytesMax, unitRowsMax = rowsMax }: Take): Row[] {
    const waiting = this.#waiting;
    let [bytes, rows, whole] = [0, 0, 0];
    const limit = Math.min(waiting.length, Math.max(rowsMax, unitRowsMax));
    while (rows < limit && (rows === 0 || bytes < bytesMax)) {
      if (rows >= rowsMax && whole > 0) break;
      bytes += waiting[rows]?.entry.line.length ?? 0;
      rows += 1;
      if (waiting[rows]?.unit !== waiting[rows - 1]?.unit) whole = rows;
    }
    return this.#remove(waiting.slice(0, whole || rows), waiting.slice(whole || rows));
  }

  /** Removes and returns the rows that have waited since `sinceMs` or longer. */
  takeOlderThan(sinceMs: number): Row[] {
    const old = this.#waiting.filter(({ unit }) => unit.sinceMs <= sinceMs);
    if (old.length === 0) return old;
    return this.#remove(
      old,
      this.#waiting.filter(({ unit }) => unit.sinceMs > sinceMs),
    );
  }

  #remove(taken: Row[], rest: Row[]): Row[] {
    this.#waiting = rest;
    this.bytes -= bytesOf(taken);
    return taken;
  }
}

/** An estimate: exact for ASCII lines. */
export function bytesOf(rows: Row[]): number {
  let bytes = 0;
  for (const { entry } of rows) bytes += entry.line.length;
  return bytes;
}
