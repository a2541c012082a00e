import { DAY_MS } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import { countOverTime, type ReadScope, whereOf } from './counts.ts';
import type { AuditReads } from './days.ts';
import { type Cursor, cursorText } from './cursor.ts';
import { type DecisionRow, recordText } from './record.ts';

export type PageRequest = { limit: number; offset: number; cursor: Cursor | undefined };
/** How many records match on each day, newest first. */
export type DayCount = { day: string; total: number };

/** GET …/audit/decisions, as JSON text. */
export async function readDecisions(reads: AuditReads, scope: ReadScope, page: PageRequest): Promise<string> {
  const { projectId, window, signal } = scope;
  // One more row than requested shows whether there is a next page.
  const asked = { ...page, limit: page.limit + 1 };
  const { counts, rows } = await reads.days.decisions.read(
    window,
    (finalDays) => readPage(reads, scope, { page: asked, finalDays }),
    signal,
  );
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  const head = JSON.stringify({
    project_id: projectId,
    window: window.name,
    total: counts.reduce((sum, { total }) => sum + total, 0),
    limit: page.limit,
    offset: page.offset,
    next_cursor: rows.length > items.length && last !== undefined ? cursorText(cursorAt(last)) : null,
  });
  return `${head.slice(0, -1)},"items":[${items.map(recordText).join(',')}]}`;
}

/** The place in the list after this row. */
function cursorAt({ occurred_at, event_id }: DecisionRow): Cursor {
  return { occurredAtMs: Date.parse(rfc3339FromClickhouse(occurred_at)), event_id };
}

/** The days that hold matching records, newest first. */
export async function countPerDay(
  reads: AuditReads,
  scope: ReadScope,
  finalDays: string[],
): Promise<DayCount[]> {
  const rows = await countOverTime(reads, scope, { bucketSeconds: DAY_MS / 1000, finalDays });
  return rows.map(({ start_seconds, total }) => ({ day: dayOf(start_seconds * 1000), total })).toReversed();
}

/** Counts the records per day and reads the page from the days that hold it. Meanwhile it reads the most likely day. */
async function readPage(
  reads: AuditReads,
  scope: ReadScope,
  { page, finalDays }: { page: PageRequest; finalDays: string[] },
): Promise<{ counts: DayCount[]; rows: DecisionRow[] }> {
  const { window, signal } = scope;
  const where = whereOf(scope);
  const readOn = (days: string[], offset: number) => {
    const is_final = Number(days.some((day) => finalDays.includes(day)));
    const params = { ...where, ...cursorParams(page.cursor), days, is_final, limit: page.limit, offset };
    return reads.runRead<DecisionRow>(sql('decisions_page'), params, signal);
  };
  const likelyDay = dayOf(page.cursor?.occurredAtMs ?? window.newestMs);
  const [counts, likely] = await Promise.all([
    countPerDay(reads, scope, finalDays),
    page.offset === 0 ? readOn([likelyDay], 0) : [],
  ]);
  const { days, offset } = daysOfPage(counts, page);
  if (days.length === 0) return { counts, rows: [] };
  const isAll = days.length === 1 && likely.length === counts.find(({ day }) => day === likelyDay)?.total;
  const isPage = days[0] === likelyDay && (isAll || likely.length === page.limit);
  return { counts, rows: isPage ? likely : await readOn(days, offset) };
}

/** The parameters of where a page begins: null for the newest record. */
export function cursorParams(cursor: Cursor | undefined) {
  if (cursor === undefined) return { until: null, until_id: null };
  return { until: clickhouseTime(cursor.occurredAtMs), until_id: cursor.event_id };
}

/** The days that hold a page, and how many rows of the first day come before it. */
export function daysOfPage(counts: DayCount[], { limit, offset, cursor }: PageRequest) {
  const cursorDay = cursor === undefined ? undefined : dayOf(cursor.occurredAtMs);
  const days: string[] = [];
  let skip = offset;
  let certain = 0;
  for (const { day, total } of counts) {
    if (certain >= skip + limit) break;
    if (cursorDay !== undefined && day > cursorDay) continue;
    if (cursorDay === undefined && days.length === 0 && skip >= total) {
      skip -= total;
      continue;
    }
    days.push(day);
    // How many rows of the cursor's own day are left is not known.
    if (day !== cursorDay) certain += total;
  }
  return { days, offset: skip };
}

/** The day (UTC) of an instant, as the store writes it. */
function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
