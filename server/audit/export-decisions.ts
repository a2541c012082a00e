import { sql } from '../store/sql.ts';
import { type ExportPage, parseExportPage } from './export-page.ts';
import type { ReadScope } from './read-counts.ts';
import type { Cursor } from './read-cursor.ts';
import type { AuditReads } from './read-days.ts';
import {
  type Asked,
  countPerDay,
  type DayCount,
  daysOfPage,
  type DecisionFilters,
  placeOf,
  type Where,
  whereOf,
} from './read-decisions.ts';
import { RECORD_KEYS } from './read-record.ts';

/** The formats of an export, each with its media type and its first line; decisions_export.sql makes the others. */
export const EXPORT_FORMATS = {
  ndjson: { type: 'application/x-ndjson', head: '' },
  csv: { type: 'text/csv; charset=utf-8; header=present', head: `${RECORD_KEYS.join(',')}\r\n` },
} as const;

export type ExportFormat = keyof typeof EXPORT_FORMATS;
export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as ExportFormat[];

const PAGE_ROWS = { first: 1000, min: 250, max: 10_000 };
/** A page is about this long: big enough to be quick, small enough to keep memory flat. */
const PAGE_BYTES = 640 * 1024;

/**
 * All matching records, newest first, page by page: the store keeps the whole result of a statement in memory, so no
 * statement asks for more than a page. Between pages nothing runs in the store, however slowly the caller reads.
 */
export async function* exportBytes(
  reads: AuditReads,
  scope: ReadScope,
  { filters, format }: { filters: DecisionFilters; format: ExportFormat },
): AsyncGenerator<Buffer> {
  const { window, signal } = scope;
  const where = whereOf(scope, filters);
  const { decisions } = reads.days;
  const count = (finalDays: string[]) => countPerDay(reads, where, { finalDays, signal });
  const counts = await decisions.read(window, count, signal);
  yield Buffer.from(EXPORT_FORMATS[format].head);
  let cursor: Cursor | undefined;
  for (let limit = PAGE_ROWS.first; ;) {
    const asked = { counts, format, limit, cursor };
    const read = (finalDays: string[]) => readPage(reads, where, { ...asked, finalDays, signal });
    const { bytes, rows, last } = await decisions.read(window, read, signal);
    if (last === undefined) return;
    yield bytes;
    if (rows < limit) return;
    cursor = last;
    limit = rowsThatFit(bytes.length / rows);
  }
}

type PageAsked = Asked & {
  counts: DayCount[];
  format: ExportFormat;
  limit: number;
  cursor: Cursor | undefined;
};

async function readPage(
  { runReadBytes }: AuditReads,
  where: Where,
  { counts, format, limit, cursor, finalDays, signal }: PageAsked,
): Promise<ExportPage> {
  const { days } = daysOfPage(counts, { limit, offset: 0, cursor });
  if (days.length === 0) return { bytes: Buffer.alloc(0), rows: 0, last: undefined };
  const is_final = Number(days.some((day) => finalDays.includes(day)));
  const params = { ...where, ...placeOf(cursor), days, is_final, limit, format };
  const result = await runReadBytes(sql('decisions_export'), params, signal);
  return parseExportPage(result);
}

function rowsThatFit(bytesPerRow: number): number {
  const rows = Math.floor(PAGE_BYTES / bytesPerRow);
  return Math.max(PAGE_ROWS.min, Math.min(PAGE_ROWS.max, rows));
}
