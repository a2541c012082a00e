import type { QueryParams } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { Outcome } from './decision-event.ts';
import type { ReadWindow } from './read-window.ts';

/** Runs one statement on the readers; see ReadPool. */
export type RunRead = <Row>(sql: string, params: QueryParams, signal?: AbortSignal) => Promise<Row[]>;

export type DecisionFilters = {
  agent: string | null;
  role: string | null;
  outcome: Outcome | null;
  tool: string | null;
  user_id: string | null;
  session_id: string | null;
};

type OutcomeCounts = { total: number; allow: number; deny: number; needs_approval: number };
type SummaryRow = OutcomeCounts & { facet: '' | 'agent' | 'role' | 'tool'; name: string };

const GROUPS_MAX = 1000;

/** GET …/audit/summary. */
export async function readSummary(run: RunRead, projectId: string, window: ReadWindow, signal?: AbortSignal) {
  const params = { project_id: projectId, since: clickhouseTime(window.fromMs), limit: GROUPS_MAX };
  const rows = await run<SummaryRow>(sql('summary'), params, signal);
  const totals = rows.find(({ facet }) => facet === '');
  const groups = (wanted: SummaryRow['facet'], key: string) =>
    rows
      .filter(({ facet }) => facet === wanted)
      .map(({ name, ...row }) => ({ [key]: name, ...countsOf(row) }));
  return {
    ...windowBody(projectId, window),
    totals: countsOf(totals ?? { total: 0, allow: 0, deny: 0, needs_approval: 0 }),
    by_agent: groups('agent', 'agent_name'),
    by_role: groups('role', 'role'),
    by_tool: groups('tool', 'tool_name'),
  };
}

function countsOf({ total, allow, deny, needs_approval }: OutcomeCounts): OutcomeCounts {
  return { total, allow, deny, needs_approval };
}

function windowBody(projectId: string, { name, fromMs, toMs }: ReadWindow) {
  return {
    project_id: projectId,
    window: name,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
  };
}

type DecisionRow = { occurred_at: string; received_at: string; hint: string; arguments: string } & Record<
  string,
  unknown
>;
export type DecisionsPage = { filters: DecisionFilters; limit: number; offset: number };

/**
 * GET …/audit/decisions, as JSON text: hint and arguments go from the stored text to the answer as they are, so that
 * every number in them keeps its digits.
 */
export async function readDecisions(
  run: RunRead,
  { projectId, window, page }: { projectId: string; window: ReadWindow; page: DecisionsPage },
  signal?: AbortSignal,
): Promise<string> {
  const { filters, limit, offset } = page;
  const where = { project_id: projectId, since: clickhouseTime(window.fromMs), ...filters };
  const [counts, rows] = await Promise.all([
    run<{ total: number }>(sql('decisions_count'), where, signal),
    run<DecisionRow>(sql('decisions_page'), { ...where, limit, offset }, signal),
  ]);
  const head = JSON.stringify({
    project_id: projectId,
    window: window.name,
    total: counts[0]?.total ?? 0,
    limit,
    offset,
  });
  return `${head.slice(0, -1)},"items":[${rows.map(recordText).join(',')}]}`;
}

/** A stored row as the JSON text of a record (SPECIFICATION 2.6). */
export function recordText({
  hint,
  arguments: args,
  occurred_at,
  received_at,
  ...rest
}: DecisionRow): string {
  const plain = JSON.stringify({
    ...rest,
    occurred_at: rfc3339FromClickhouse(occurred_at),
    received_at: rfc3339FromClickhouse(received_at),
  });
  return `${plain.slice(0, -1)},"hint":${hint || 'null'},"arguments":${args || 'null'}}`;
}
