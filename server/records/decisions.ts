import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { Outcome } from '../ingest/decision-event.ts';
import type { ReadScope } from './counts.ts';
import type { AuditReads } from './days.ts';
import { type Cursor, cursorText } from './cursor.ts';
import { type DecisionRow, recordText } from './record.ts';
import { firstDayOf } from './window.ts';

/** null does not filter; '' selects the empty value. */
export type DecisionFilters = {
  agent: string | null;
  role: string | null;
  outcome: Outcome | null;
  tool: string | null;
  user_id: string | null;
  session_id: string | null;
};

export type PageRequest = { limit: number; offset: number; cursor: Cursor | undefined };
/** How many records match on each day, newest first. */
export type DayCount = { day: string; total: number };
export type Where = { project_id: string; since: string; first_day: string | null } & DecisionFilters;

/** GET …/audit/decisions, as JSON text. */
export async function readDecisions(
  reads: AuditReads,
  scope: ReadScope,
  { filters, ...page }: PageRequest & { filters: DecisionFilters },
): Promise<string> {
  const { projectId, window, signal } = scope;
  const where = whereOf(scope, filters);
  // One more row than requested shows whether there is a next page.
  const asked = { ...page, limit: page.limit + 1 };
  const { counts, rows } = await reads.days.decisions.read(
    window,
    (finalDays) => readPage(reads, where, { page: asked, nowMs: window.toMs, finalDays, signal }),
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

export function whereOf({ projectId, window }: ReadScope, filters: DecisionFilters): Where {
  const since = clickhouseTime(window.fromMs);
  return { project_id: projectId, since, first_day: firstDayOf(window), ...filters };
}

export type DaysRead = { finalDays: string[]; signal: AbortSignal };

export function countPerDay({ runRead }: AuditReads, where: Where, { finalDays, signal }: DaysRead) {
  const { user_id, session_id, ...others } = where;
  const final_days = finalDays;
  return user_id === null && session_id === null
    ? runRead<DayCount>(sql('decisions_per_day'), { ...others, final_days }, signal)
    : runRead<DayCount>(sql('decisions_of_user_per_day'), { ...where, final_days }, signal);
}

/** Counts the records per day and reads the page from the days that hold it. Meanwhile it reads the most likely day. */
async function readPage(
  reads: AuditReads,
  where: Where,
  { page, nowMs, finalDays, signal }: DaysRead & { page: PageRequest; nowMs: number },
): Promise<{ counts: DayCount[]; rows: DecisionRow[] }> {
  const readOn = (days: string[], offset: number) => {
    const is_final = Number(days.some((day) => finalDays.includes(day)));
    const params = { ...where, ...cursorParams(page.cursor), days, is_final, limit: page.limit, offset };
    return reads.runRead<DecisionRow>(sql('decisions_page'), params, signal);
  };
  const likelyDay = dayOf(page.cursor?.occurredAtMs ?? nowMs);
  const [counts, likely] = await Promise.all([
    countPerDay(reads, where, { finalDays, signal }),
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
