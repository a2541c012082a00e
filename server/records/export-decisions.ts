import { sql } from '../store/sql.ts';
import { clickhouseDay, clickhouseTime } from '../store/time.ts';
import { type ExportPage, parseExportPage } from './export-page.ts';
import { type ReadScope, type Where, whereOf } from './counts.ts';
import type { Cursor } from './cursor.ts';
import type { AuditReads } from './days.ts';
import { countPerDay } from './decisions.ts';
import { cursorParams, type DayCount, readOnDays } from './pages.ts';
import { RECORD_KEYS } from './record.ts';

/** The formats of an export with media type and first line; decisions_export.sql makes the other lines. */
export const EXPORT_FORMATS = {
  ndjson: { type: 'application/x-ndjson', head: '' },
  csv: { type: 'text/csv; charset=utf-8; header=present', head: `${RECORD_KEYS.join(',')}\r\n` },
} as const;

export type ExportFormat = keyof typeof EXPORT_FORMATS;
/** `proofs`: the fields that `exportProofs` needs to find a record in the log. */
type PageFormat = ExportFormat | 'proofs';
export const EXPORT_FORMAT_NAMES = Object.keys(EXPORT_FORMATS) as ExportFormat[];

const PAGE_ROWS = { first: 1000, min: 250, max: 10_000 };
/** The size of a page: large enough to be fast, small enough for constant memory. */
const PAGE_BYTES = 640 * 1024;
/**
 * A page looks back this many times as far as the page before it reached, because the store sorts all rows in range to find the newest. A
 * range that turns out too short grows by the same factor.
 */
const LOOK_BACK = 4;
const BEFORE_EVERY_ID = '';

/**
 * All matching records, newest first, in pages, because the store keeps the whole result of a statement in memory. Between pages nothing
 * runs in the store, however slowly the caller reads.
 */
export async function* exportBytes(
  reads: AuditReads,
  scope: ReadScope,
  format: PageFormat,
): AsyncGenerator<Buffer> {
  const { window, signal } = scope;
  const where = whereOf(scope);
  const { decisions } = reads.days;
  const count = (finalDays: string[]) => countPerDay(reads, scope, finalDays);
  const counts = await decisions.read(window, count, signal);
  if (format !== 'proofs') yield Buffer.from(EXPORT_FORMATS[format].head);
  let cursor: Cursor | undefined;
  let lookBackMs = Number.POSITIVE_INFINITY;
  for (let limit = PAGE_ROWS.first; ;) {
    const sinceMs = Math.max(window.sinceMs, (cursor?.occurredAtMs ?? window.sinceMs) - lookBackMs);
    const slice = { ...where, since: clickhouseTime(sinceMs) };
    const within = counts.filter(({ day }) => day >= clickhouseDay(sinceMs));
    const asked = { counts: within, format, limit, cursor };
    const read = (finalDays: string[]) => readExportPage(reads, slice, { ...asked, finalDays, signal });
    const { bytes, rows, last } = await decisions.read(window, read, signal);
    yield bytes;
    if (rows < limit || last === undefined) {
      if (sinceMs === window.sinceMs) return;
      cursor = { occurredAtMs: sinceMs, event_id: BEFORE_EVERY_ID };
      lookBackMs *= LOOK_BACK;
    } else {
      lookBackMs = LOOK_BACK * Math.max(1, (cursor?.occurredAtMs ?? window.newestMs) - last.occurredAtMs);
      cursor = last;
      limit = rowsThatFit(bytes.length / rows);
    }
  }
}

type ExportPageRequest = {
  finalDays: string[];
  signal: AbortSignal;
  counts: DayCount[];
  format: PageFormat;
  limit: number;
  cursor: Cursor | undefined;
};

async function readExportPage(
  { runReadBytes }: AuditReads,
  where: Where,
  { counts, format, limit, cursor, finalDays, signal }: ExportPageRequest,
): Promise<ExportPage> {
  const read = async ({ days }: { days: string[] }) => {
    if (days.length === 0) return parseExportPage(Buffer.alloc(0));
    const is_final = Number(days.some((day) => finalDays.includes(day)));
    const params = { ...where, ...cursorParams(cursor), days, is_final, limit, format };
    return parseExportPage(await runReadBytes(sql('decisions_export'), params, signal));
  };
  return readOnDays(counts, { limit, offset: 0, cursor }, { read, numberOf: ({ rows }) => rows });
}

function rowsThatFit(bytesPerRow: number): number {
  const rows = Math.floor(PAGE_BYTES / bytesPerRow);
  return Math.max(PAGE_ROWS.min, Math.min(PAGE_ROWS.max, rows));
}
