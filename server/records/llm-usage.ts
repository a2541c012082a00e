import { rawJson } from '../json.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { GROUPS_MAX, type ReadScope, scopeFields } from './counts.ts';
import type { AuditReads } from './days.ts';

/** The sums are text: they may exceed 2^53. */
type UsageRow = {
  facet: '' | 'model' | 'agent';
  name: string;
  calls: number;
  input_tokens: string;
  output_tokens: string;
  cached_input_tokens: string;
  reasoning_tokens: string;
  total_cost: string;
};

const ZERO = { input_tokens: '0', output_tokens: '0', cached_input_tokens: '0', reasoning_tokens: '0' };
const NOTHING: UsageRow = { facet: '', name: '', calls: 0, ...ZERO, total_cost: '0' };
/** The store adds money in whole 10^-12 dollars, so that the sum does not depend on the order. */
const COST_UNITS = 1e12;

/** GET …/audit/llm-usage. */
export async function readLlmUsage({ runRead, days }: AuditReads, scope: ReadScope) {
  const { projectId, window, signal } = scope;
  const since = clickhouseTime(window.fromMs);
  const read = (final_days: string[]) =>
    runRead<UsageRow>(
      sql('llm_usage'),
      { project_id: projectId, since, final_days, limit: GROUPS_MAX },
      signal,
    );
  const rows = await days.llmInvocations.read(window, read, signal);
  const groups = <Key extends string>(wanted: UsageRow['facet'], key: Key) =>
    rows
      .filter(({ facet }) => facet === wanted)
      .map((row) => ({ [key]: row.name, ...usageOf(row) }) as Record<Key, string> & Usage);
  return {
    ...scopeFields(scope),
    totals: usageOf(rows.find(({ facet }) => facet === '') ?? NOTHING),
    by_model: groups('model', 'model'),
    by_agent: groups('agent', 'agent_name'),
  };
}

type Usage = ReturnType<typeof usageOf>;

/** cost_usd sums known costs; a call without a cost adds nothing. */
function usageOf(row: UsageRow) {
  return {
    calls: row.calls,
    input_tokens: rawJson(row.input_tokens),
    output_tokens: rawJson(row.output_tokens),
    cached_input_tokens: rawJson(row.cached_input_tokens),
    reasoning_tokens: rawJson(row.reasoning_tokens),
    cost_usd: Number(row.total_cost) / COST_UNITS,
  };
}
