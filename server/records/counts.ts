import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { AuditReads } from './days.ts';
import { firstDayOf, type ReadWindow } from './window.ts';

/** One project over one window; the signal aborts when the caller is gone. */
export type ReadScope = { projectId: string; window: ReadWindow; signal: AbortSignal };

export type OutcomeCounts = { total: number; allow: number; deny: number; needs_approval: number };
/** `entries`: how many rows the facet has, also beyond the limit of its list. */
type SummaryRow = OutcomeCounts & { facet: '' | 'agent' | 'role' | 'tool'; name: string; entries: number };
type HourRow = OutcomeCounts & { hour_seconds: number };

/** The longest list in an answer. */
export const GROUPS_MAX = 1000;
const NOTHING: OutcomeCounts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

/** GET …/audit/summary. */
export async function readSummary({ runRead, days }: AuditReads, scope: ReadScope) {
  const { projectId, window, signal } = scope;
  const since = clickhouseTime(window.fromMs);
  const read = (final_days: string[]) =>
    runRead<SummaryRow>(
      sql('summary'),
      { project_id: projectId, since, first_day: firstDayOf(window), final_days, limit: GROUPS_MAX },
      signal,
    );
  const rows = await days.decisions.read(window, read, signal);
  const totals = countsOf(rows.find(({ facet }) => facet === '') ?? NOTHING);
  const listed = (wanted: SummaryRow['facet']) => rows.filter(({ facet }) => facet === wanted);
  const [agents, roles, tools] = [listed('agent'), listed('role'), listed('tool')];
  return {
    ...scopeFields(scope),
    totals,
    by_agent: agents.map((row) => ({ agent_name: row.name, ...countsOf(row) })),
    by_role: roles.map((row) => ({ role: row.name, ...countsOf(row) })),
    by_tool: tools.map((row) => ({ tool_name: row.name, ...countsOf(row) })),
    others: {
      by_agent: othersOf(agents, totals),
      by_role: othersOf(roles, totals),
      by_tool: othersOf(tools, totals),
    },
  };
}

/** What a list leaves out, null for nothing: with it, the list adds up to the totals. */
function othersOf(listed: SummaryRow[], totals: OutcomeCounts) {
  const entries = (listed[0]?.entries ?? 0) - listed.length;
  if (entries === 0) return null;
  const left = (key: keyof OutcomeCounts) => listed.reduce((rest, row) => rest - row[key], totals[key]);
  return {
    entries,
    total: left('total'),
    allow: left('allow'),
    deny: left('deny'),
    needs_approval: left('needs_approval'),
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
    ...scopeFields(scope),
    bucket_seconds: window.bucketSeconds,
    buckets: bucketsFrom(rows, window),
  };
}

/**
 * The hours of a window in buckets without gaps, from the bucket of its start to that of its end or of the newest
 * record, which may be up to five minutes ahead.
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

/** The first fields of every answer over a window. */
export function scopeFields({ projectId, window: { name, fromMs, toMs } }: ReadScope) {
  return {
    project_id: projectId,
    window: name,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  };
}
