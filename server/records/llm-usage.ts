import { rawJson } from '../json.ts';
import { sql } from '../store/sql.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { bucketsFrom, countedOf, GROUPS_MAX, type ReadScope, scopeFields } from './counts.ts';
import type { AuditReads } from './days.ts';

/** The sums are text, because they may exceed 2^53. */
type Sums = {
  calls: number;
  input_tokens: string;
  output_tokens: string;
  cached_input_tokens: string;
  reasoning_tokens: string;
  total_cost: string;
};
type UsageRow = Sums & { facet: '' | 'model' | 'agent'; name: string };
type BucketRow = Sums & { start_seconds: number };

const ZERO = { input_tokens: '0', output_tokens: '0', cached_input_tokens: '0', reasoning_tokens: '0' };
const NOTHING: Sums = { calls: 0, ...ZERO, total_cost: '0' };
/** All whole parts of a range are read by the hour. */
export const HOUR_SECONDS = 3600;

/** The dimensions of a breakdown of model calls, with the column. */
const DIMENSIONS = {
  model: 'model',
  agent: 'agent_name',
  user_id: 'user_id',
  session_id: 'session_id',
} as const;

export type UsageDimension = keyof typeof DIMENSIONS;
export const USAGE_DIMENSION_NAMES = Object.keys(DIMENSIONS) as UsageDimension[];

/** Each row also has the sums over all values. */
type BreakdownRow = Sums & { [Key in keyof Sums as `all_${Key}`]: Sums[Key] } & {
  name: string;
  entries: number;
  first_at: string;
  last_at: string;
};

/** GET …/audit/llm-usage. */
export async function readLlmUsage({ days }: AuditReads, scope: ReadScope) {
  const asked = { ...(await countedOf(days.llmInvocations, scope, HOUR_SECONDS)), limit: GROUPS_MAX };
  const rows = await days.llmInvocations.query<UsageRow>(sql('llm_usage'), asked, scope);
  const listed = (wanted: UsageRow['facet']) => rows.filter(({ facet }) => facet === wanted);
  return {
    ...scopeFields(scope),
    totals: usageOf(listed('')[0] ?? NOTHING),
    by_model: listed('model').map((row) => ({ model: row.name, ...usageOf(row) })),
    by_agent: listed('agent').map((row) => ({ agent_name: row.name, ...usageOf(row) })),
  };
}

/** GET …/audit/llm-usage/timeseries. */
export async function readLlmUsageTimeseries({ days }: AuditReads, scope: ReadScope) {
  const { window } = scope;
  const { bucketSeconds } = window;
  const counted = await countedOf(days.llmInvocations, scope, bucketSeconds);
  const asked = { ...counted, bucket_seconds: bucketSeconds };
  const rows = await days.llmInvocations.query<BucketRow>(sql('llm_usage_over_time'), asked, scope);
  return {
    ...scopeFields(scope),
    bucket_seconds: bucketSeconds,
    buckets: bucketsFrom(rows, window).map(({ start, row = NOTHING }) => ({ start, ...usageOf(row) })),
  };
}

/** GET …/audit/llm-usage/breakdown. */
export async function readLlmUsageBreakdown(
  { days }: AuditReads,
  scope: ReadScope,
  { by, limit }: { by: UsageDimension; limit: number },
) {
  const counted = await countedOf(days.llmInvocations, scope, undefined);
  const asked = { ...counted, by: DIMENSIONS[by], limit };
  const rows = await days.llmInvocations.query<BreakdownRow>(sql('llm_usage_breakdown'), asked, scope);
  return {
    ...scopeFields(scope),
    by,
    items: rows.map(({ name, first_at, last_at, ...sums }) => ({
      value: name,
      ...usageOf(sums),
      first: rfc3339FromClickhouse(first_at),
      last: rfc3339FromClickhouse(last_at),
    })),
    others: othersOf(rows),
  };
}

/** The sum of the rows that the list leaves out, null if there are none. With it, the list adds up to the totals. */
function othersOf(rows: BreakdownRow[]) {
  const [first] = rows;
  if (first === undefined || first.entries === rows.length) return null;
  const left = (key: keyof Sums) =>
    String(rows.reduce((rest, row) => rest - BigInt(row[key]), BigInt(first[`all_${key}`])));
  const sums = {
    input_tokens: left('input_tokens'),
    output_tokens: left('output_tokens'),
    cached_input_tokens: left('cached_input_tokens'),
    reasoning_tokens: left('reasoning_tokens'),
    total_cost: left('total_cost'),
  };
  return { entries: first.entries - rows.length, ...usageOf({ calls: Number(left('calls')), ...sums }) };
}

/** cost_usd sums known costs; a call without a cost adds nothing. */
function usageOf(row: Sums) {
  return {
    calls: row.calls,
    input_tokens: rawJson(row.input_tokens),
    output_tokens: rawJson(row.output_tokens),
    cached_input_tokens: rawJson(row.cached_input_tokens),
    reasoning_tokens: rawJson(row.reasoning_tokens),
    // The store adds money in whole 10^-12 dollars, so that the sum does not depend on the order.
    cost_usd: Number(`${row.total_cost}e-12`),
  };
}
