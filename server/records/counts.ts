import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { AuditReads } from './days.ts';
import type { ReadWindow } from './window.ts';

/** One project over one window; the signal aborts when the caller is gone. */
export type ReadScope = { projectId: string; window: ReadWindow; signal: AbortSignal };

export type OutcomeCounts = { total: number; allow: number; deny: number; needs_approval: number };
type SummaryRow = OutcomeCounts & { facet: '' | 'agent' | 'role' | 'tool'; name: string };
type HourRow = OutcomeCounts & { hour_seconds: number };

/** The lists of an answer are this long at most (CONTRACT 5). */
export const GROUPS_MAX = 1000;
const NOTHING: OutcomeCounts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

/** GET …/audit/summary. */
export async function readSummary({ runRead, days }: AuditReads, scope: ReadScope) {
  const { projectId, window, signal } = scope;
  const since = clickhouseTime(window.fromMs);
  const read = (final_days: string[]) =>
    runRead<SummaryRow>(
      sql('summary'),
      { project_id: projectId, since, final_days, limit: GROUPS_MAX },
      signal,
    );
  const rows = await days.decisions.read(window, read, signal);
  const groups = <Key extends string>(wanted: SummaryRow['facet'], key: Key) =>
    rows
      .filter(({ facet }) => facet === wanted)
      .map(({ name, ...row }) => ({ [key]: name, ...countsOf(row) }) as Record<Key, string> & OutcomeCounts);
  return {
    ...scopeBody(scope),
    totals: countsOf(rows.find(({ facet }) => facet === '') ?? NOTHING),
    by_agent: groups('agent', 'agent_name'),
    by_role: groups('role', 'role'),
    by_tool: groups('tool', 'tool_name'),
  };
}

/** GET …/audit/timeseries. */
export async function readTimeseries({ runRead, days }: AuditReads, scope: ReadScope) {
  const { projectId, window, signal } = scope;
  const since = clickhouseTime(window.fromMs);
  const read = (final_days: string[]) =>
    runRead<HourRow>(sql('timeseries'), { project_id: projectId, since, final_days }, signal);
  const rows = await days.decisions.read(window, read, signal);
  return {
    ...scopeBody(scope),
    bucket_seconds: window.bucketSeconds,
    buckets: bucketsFrom(rows, window),
  };
}

/**
 * The hours of a window in buckets without gaps, from the one that holds its start to the one that holds its end, or
 * to that of the newest record: events may be up to five minutes ahead.
 */
export function bucketsFrom(hours: HourRow[], { fromMs, toMs, bucketSeconds }: ReadWindow) {
  const bucketOf = (seconds: number) => Math.floor(seconds / bucketSeconds);
  const first = bucketOf(fromMs / 1000);
  const last = Math.max(bucketOf(toMs / 1000), bucketOf(hours.at(-1)?.hour_seconds ?? 0));
  const buckets = Array.from({ length: last - first + 1 }, (_, index) => ({
    start: new Date((first + index) * bucketSeconds * 1000).toISOString(),
    ...NOTHING,
  }));
  for (const { hour_seconds, ...counts } of hours) {
    const bucket = buckets[bucketOf(hour_seconds) - first];
    if (bucket === undefined) continue;
    bucket.total += counts.total;
    bucket.allow += counts.allow;
    bucket.deny += counts.deny;
    bucket.needs_approval += counts.needs_approval;
  }
  return buckets;
}

function countsOf({ total, allow, deny, needs_approval }: OutcomeCounts): OutcomeCounts {
  return { total, allow, deny, needs_approval };
}

/** The head of every answer over a window. */
export function scopeBody({ projectId, window: { name, fromMs, toMs } }: ReadScope) {
  return {
    project_id: projectId,
    window: name,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  };
}
