import { readLeb128 } from '../leb128.ts';
import type { Cursor } from './cursor.ts';

/** A page of decisions_export.sql: its lines, their number, and the position of the last one. */
export type ExportPage = { bytes: Buffer; rows: number; last: Cursor | undefined };

const TIME_BYTES = 8;

/** Parses a result in RowBinary: an Int64 and two strings, each after its length. */
export function parseExportPage(result: Buffer): ExportPage {
  const lines: Buffer[] = [];
  let last: Cursor | undefined;
  for (let at = 0; at < result.length;) {
    const occurredAtMs = Number(result.readBigInt64LE(at));
    const id = textAt(result, at + TIME_BYTES);
    const line = textAt(result, id.end);
    lines.push(line.text);
    last = { occurredAtMs, event_id: id.text.toString('latin1') };
    at = line.end;
  }
  return { bytes: Buffer.concat(lines), rows: lines.length, last };
}

/** A string with its length before it. */
function textAt(result: Buffer, start: number): { text: Buffer; end: number } {
  const { value: length, end: at } = readLeb128(result, start);
  return { text: result.subarray(at, at + length), end: at + length };
}
