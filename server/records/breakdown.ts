import { sql } from '../store/sql.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { countedOf, countsOf, type OutcomeCounts, othersOf, type ReadScope, scopeFields } from './counts.ts';
import type { AuditReads } from './days.ts';

/** The dimensions of a breakdown of decisions, with the column, and whether the projections by day and hour have it. */
const DIMENSIONS = {
  agent: { column: 'agent_name', isInProjections: true },
  role: { column: 'role', isInProjections: true },
  tool: { column: 'tool_name', isInProjections: true },
  outcome: { column: 'outcome', isInProjections: true },
  error_type: { column: 'error_type', isInProjections: true },
  reason: { column: 'reason', isInProjections: false },
  user_id: { column: 'user_id', isInProjections: false },
  session_id: { column: 'session_id', isInProjections: false },
} as const;

export type Dimension = keyof typeof DIMENSIONS;
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as Dimension[];

/** Each row also has the totals. */
type BreakdownRow = OutcomeCounts & { [Key in keyof OutcomeCounts as `all_${Key}`]: number } & {
  name: string;
  entries: number;
  first_at: string;
  last_at: string;
};

const DAY_SECONDS = 86_400;

/** GET …/audit/breakdown. */
export async function readBreakdown(
  { days }: AuditReads,
  scope: ReadScope,
  { by, limit }: { by: Dimension; limit: number },
) {
  const { column, isInProjections } = DIMENSIONS[by];
  const counted = await countedOf(days.decisions, scope, isInProjections ? DAY_SECONDS : undefined);
  const asked = { ...counted, by: column, limit };
  const rows = await days.decisions.query<BreakdownRow>(sql('breakdown'), asked, scope);
  const [first] = rows;
  return {
    ...scopeFields(scope),
    by,
    items: rows.map(({ name, first_at, last_at, ...counts }) => ({
      value: name,
      ...countsOf(counts),
      first: rfc3339FromClickhouse(first_at),
      last: rfc3339FromClickhouse(last_at),
    })),
    others: first === undefined ? null : othersOf(rows, totalsOf(first)),
  };
}

function totalsOf({ all_total, all_allow, all_deny, all_needs_approval }: BreakdownRow): OutcomeCounts {
  return { total: all_total, allow: all_allow, deny: all_deny, needs_approval: all_needs_approval };
}
