import { auditOf } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import type { DecisionRecord, DecisionsPage } from '../../api/types.ts';
import { rangeOf } from '../../api/relative-period.ts';
import type { QueryValues } from '../../app/route.ts';
import { isNewer } from './decision-feed.ts';
import { DAY_MS, MINUTE_MS } from '../../../../durations.ts';
import { RETENTION_MS } from '../../../../limits.ts';

const PAGE_ROWS = 500;
const OFFSET_MAX = 10_000;
/** The next record is usually near, and a short range is counted quickly. */
const SPANS_MS = [MINUTE_MS, 60 * MINUTE_MS, DAY_MS, RETENTION_MS];

/** The records to step through: filters and search, over any period. */
export type Among = { projectId: string; query: QueryValues; signal?: AbortSignal };
export type Direction = 'newer' | 'older';
type Range = { fromMs: number; toMs: number };

/** The record next to this one in a list of all days; undefined at its end. */
export async function neighbourOf(
  record: DecisionRecord,
  direction: Direction,
  among: Among,
): Promise<DecisionRecord | undefined> {
  const atMs = Date.parse(record.occurred_at);
  if (direction === 'older')
    return nextOlder(record, among, { fromMs: atMs + 1 - RETENTION_MS, toMs: atMs + 1 });
  for (const spanMs of SPANS_MS) {
    const found = await nextNewer(record, among, { fromMs: atMs, toMs: atMs + spanMs });
    if (found !== undefined) return found;
  }
  return undefined;
}

async function nextOlder(record: DecisionRecord, among: Among, range: Range) {
  let cursor: string | undefined;
  do {
    const page = await pageOf(among, range, { limit: PAGE_ROWS, cursor });
    const found = page.items.find((item) => isNewer(record, item));
    if (found !== undefined) return found;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return undefined;
}

/** Reads the end of the range, which begins with the record. If that is too far down, reads the earlier half first. */
async function nextNewer(
  record: DecisionRecord,
  among: Among,
  range: Range,
): Promise<DecisionRecord | undefined> {
  const { total } = await pageOf(among, range, { limit: 1 });
  const offset = Math.max(0, total - PAGE_ROWS);
  if (offset <= OFFSET_MAX) {
    const { items } = await pageOf(among, range, { limit: PAGE_ROWS, offset });
    return items.findLast((item) => isNewer(item, record));
  }
  const middleMs = Math.floor((range.fromMs + range.toMs) / 2);
  return (
    (await nextNewer(record, among, { ...range, toMs: middleMs })) ??
    nextNewer(record, among, { ...range, fromMs: middleMs })
  );
}

function pageOf(
  { projectId, query, signal }: Among,
  { fromMs, toMs }: Range,
  page: { limit: number; offset?: number; cursor?: string | undefined },
): Promise<DecisionsPage> {
  return request(auditOf(projectId, 'decisions', { ...query, ...rangeOf(fromMs, toMs), ...page }), {
    signal,
  });
}
