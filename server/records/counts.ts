import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { completenessOf } from './completeness.ts';
import type { AuditReads, ReadDays } from './days.ts';
import { areInProjections, type DecisionFilters, isFiltered } from './filters.ts';
import { NO_WHOLE_PARTS, type ReadWindow, wholePartsOf } from './window.ts';

/** One project over one range of time; the signal aborts when the caller is gone. */
export type ReadScope = {
  projectId: string;
  window: ReadWindow;
  filters: DecisionFilters;
  signal: AbortSignal;
};

export type OutcomeCounts = { total: number; allow: number; deny: number; needs_approval: number };
/** `entries`: the number of rows of the facet, including those beyond the limit of its list. */
type SummaryRow = OutcomeCounts & { facet: '' | 'agent' | 'role' | 'tool'; name: string; entries: number };
export type BucketRow = OutcomeCounts & { start_seconds: number };

/** The longest list in an answer. */
export const GROUPS_MAX = 1000;
const NOTHING: OutcomeCounts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

/** The parameters of every statement that selects decisions. */
export type Where = { project_id: string; since: string; before: string } & DecisionFilters;

export function whereOf({ projectId, window, filters }: ReadScope): Where {
  const [since, before] = [window.sinceMs, window.beforeMs].map(clickhouseTime) as [string, string];
  return { project_id: projectId, since, before, ...filters };
}

/**
 * The same for a count, which reads whole days and hours from projections where this is possible and faster. `bucketSeconds` undefined: the
 * count needs columns that the projections do not have.
 */
export async function countedOf(days: ReadDays, scope: ReadScope, bucketSeconds: number | undefined) {
  const { filters, window } = scope;
  const few_rows = (await days.hasFewRows(window)) ? 1 : null;
  const isWhole = bucketSeconds !== undefined && few_rows === null && areInProjections(filters);
  return { ...whereOf(scope), few_rows, ...(isWhole ? wholePartsOf(window, bucketSeconds) : NO_WHOLE_PARTS) };
}

const DAY_SECONDS = 86_400;

/** GET …/audit/summary. */
export async function readSummary(reads: AuditReads, scope: ReadScope) {
  const { decisions } = reads.days;
  const asked = { ...(await countedOf(decisions, scope, DAY_SECONDS)), limit: GROUPS_MAX };
  const [rows, completeness] = await Promise.all([
    decisions.query<SummaryRow>(sql('summary'), asked, scope),
    isFiltered(scope.filters) ? undefined : completenessOf(reads, scope, ['decisions']),
  ]);
  const listed = (wanted: SummaryRow['facet']) => rows.filter(({ facet }) => facet === wanted);
  const totals = countsOf(listed('')[0] ?? NOTHING);
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
    completeness: completeness === undefined || completeness.emitters === 0 ? null : completeness,
  };
}

/** The sum of the rows that a list leaves out, null if there are none. With it, the list adds up to the totals. */
export function othersOf(listed: (OutcomeCounts & { entries: number })[], totals: OutcomeCounts) {
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
export async function readTimeseries(reads: AuditReads, scope: ReadScope) {
  const { window } = scope;
  const { bucketSeconds } = window;
  const read = (finalDays: string[]) => countOverTime(reads, scope, { bucketSeconds, finalDays });
  const rows = await reads.days.decisions.read(window, read, scope.signal);
  return {
    ...scopeFields(scope),
    bucket_seconds: bucketSeconds,
    buckets: bucketsFrom(rows, window).map(({ start, row = NOTHING }) => ({ start, ...countsOf(row) })),
  };
}

/** The buckets that hold records, oldest first. */
export async function countOverTime(
  { runRead, days }: AuditReads,
  scope: ReadScope,
  { bucketSeconds, finalDays }: { bucketSeconds: number; finalDays: string[] },
): Promise<BucketRow[]> {
  const counted = await countedOf(days.decisions, scope, bucketSeconds);
  const asked = { ...counted, bucket_seconds: bucketSeconds, final_days: finalDays };
  return runRead<BucketRow>(sql('decisions_over_time'), asked, scope.signal);
}

/**
 * The buckets of a window without gaps, each with its row if it has one, from the bucket of its start to that of its end. A window without
 * an upper end continues to its newest record, which may be up to five minutes ahead.
 */
export function bucketsFrom<Row extends { start_seconds: number }>(
  rows: Row[],
  { name, fromMs, toMs, bucketSeconds }: ReadWindow,
) {
  const bucketOf = (seconds: number) => Math.floor(seconds / bucketSeconds);
  const first = bucketOf(fromMs / 1000);
  const newest = Math.max(bucketOf(toMs / 1000), bucketOf(rows.at(-1)?.start_seconds ?? 0));
  const last = name === null ? bucketOf((toMs - 1) / 1000) : newest;
  const known = new Map(rows.map((row) => [row.start_seconds, row]));
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const seconds = (first + index) * bucketSeconds;
    return { start: new Date(seconds * 1000).toISOString(), row: known.get(seconds) };
  });
}

export function countsOf({ total, allow, deny, needs_approval }: OutcomeCounts): OutcomeCounts {
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
