import { sql } from '../store/sql.ts';
import { clickhouseDay, clickhouseTime, msFromClickhouse } from '../store/time.ts';
import { type ReadScope, whereOf } from './counts.ts';
import { type Cursor, cursorText } from './cursor.ts';
import type { AuditReads, ReadDays } from './days.ts';

export type PageRequest = { limit: number; offset: number; cursor: Cursor | undefined };
/** How many records match on each day, newest first. */
export type DayCount = { day: string; total: number };

/** The records of one table. `statement` reads a page of them. */
type Source = {
  days: ReadDays;
  statement: 'decisions_page' | 'llm_invocations_page';
  countPerDay: (reads: AuditReads, scope: ReadScope, finalDays: string[]) => Promise<DayCount[]>;
};
/** The position of a row in the list, as the store prints it. */
type Placed = { occurred_at: string; event_id: string };

/** One page of records, newest first, with the total number of records and the start of the next page. */
export async function readRecords<Row extends Placed>(
  reads: AuditReads,
  scope: ReadScope,
  { page, ...source }: Source & { page: PageRequest },
): Promise<{ total: number; next_cursor: string | null; rows: Row[] }> {
  // One more row than requested shows whether there is a next page.
  const asked = { ...page, limit: page.limit + 1 };
  const { counts, rows } = await source.days.read(
    scope.window,
    (finalDays) => readPage<Row>(reads, scope, { ...source, page: asked, finalDays }),
    scope.signal,
  );
  const listed = rows.slice(0, page.limit);
  const last = rows.length > listed.length ? listed.at(-1) : undefined;
  const counted = counts.reduce((sum, { total }) => sum + total, 0);
  return {
    // Records that arrived between the two statements are only in the page.
    total: rows.length === 0 ? counted : Math.max(counted, page.offset + rows.length),
    next_cursor:
      last === undefined
        ? null
        : cursorText({ occurredAtMs: msFromClickhouse(last.occurred_at), event_id: last.event_id }),
    rows: listed,
  };
}

/** Counts the records per day and reads the page from the days that hold it. At the same time, it reads the most likely day. */
async function readPage<Row>(
  reads: AuditReads,
  scope: ReadScope,
  { statement, countPerDay, page, finalDays }: Source & { page: PageRequest; finalDays: string[] },
): Promise<{ counts: DayCount[]; rows: Row[] }> {
  const { window, signal } = scope;
  const where = whereOf(scope);
  const readOn = (days: string[], offset: number) => {
    const is_final = Number(days.some((day) => finalDays.includes(day)));
    const params = { ...where, ...cursorParams(page.cursor), days, is_final, limit: page.limit, offset };
    return reads.runRead<Row>(sql(statement), params, signal);
  };
  const likelyDay = clickhouseDay(page.cursor?.occurredAtMs ?? window.newestMs);
  const [counts, likely] = await Promise.all([
    countPerDay(reads, scope, finalDays),
    page.offset === 0 ? readOn([likelyDay], 0) : [],
  ]);
  const read = ({ days, offset }: DaysOfPage) => {
    if (days.length === 0) return [];
    const isAll = days.length === 1 && likely.length === counts.find(({ day }) => day === likelyDay)?.total;
    const isPage = days[0] === likelyDay && (isAll || likely.length === page.limit);
    return isPage ? likely : readOn(days, offset);
  };
  return { counts, rows: await readOnDays(counts, page, { read, numberOf: ({ length }) => length }) };
}

type DaysOfPage = { days: string[]; offset: number };
type PageReader<Page> = {
  read: (held: DaysOfPage) => Page | Promise<Page>;
  numberOf: (page: Page) => number;
};

/**
 * Reads a page on the days that hold it. If it falls short, counted records are gone, and it is read on all further days: only the last
 * page has fewer records than its limit.
 */
export async function readOnDays<Page>(
  counts: DayCount[],
  page: PageRequest,
  { read, numberOf }: PageReader<Page>,
): Promise<Page> {
  const held = daysOfPage(counts, page);
  const found = await read(held);
  const all = daysOfPage(counts, { ...page, limit: Number.POSITIVE_INFINITY });
  return numberOf(found) < page.limit && held.days.length < all.days.length ? read(all) : found;
}

/** The parameters of the start of a page: null for the newest record. */
export function cursorParams(cursor: Cursor | undefined) {
  if (cursor === undefined) return { until: null, until_id: null };
  return { until: clickhouseTime(cursor.occurredAtMs), until_id: cursor.event_id };
}

/** The days that hold a page, and how many rows of the first day come before it. */
export function daysOfPage(counts: DayCount[], { limit, offset, cursor }: PageRequest): DaysOfPage {
  const cursorDay = cursor === undefined ? undefined : clickhouseDay(cursor.occurredAtMs);
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
    // The number of remaining rows on the cursor's own day is unknown.
    if (day !== cursorDay) certain += total;
  }
  return { days, offset: skip };
}
