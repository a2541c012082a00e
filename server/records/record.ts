import { rfc3339FromClickhouse } from '../store/time.ts';
import type { Outcome } from '../ingest/decision-event.ts';

/** A row of decisions_page.sql: times as the store prints them, hint and arguments as JSON text, '' for null. */
export type DecisionRow = {
  event_id: string;
  occurred_at: string;
  agent_name: string;
  tool_name: string;
  outcome: Outcome;
  role: string;
  error_type: string;
  reason: string;
  violations: string[];
  hint: string;
  arguments: string;
  user_id: string;
  session_id: string;
  project_id: string;
  agent_version_id: string;
  received_at: string;
};

/** The keys of a record (SPECIFICATION 2.1 and 2.2), in the order in which they are written. */
export const RECORD_KEYS = [
  'event_id',
  'occurred_at',
  'agent_name',
  'tool_name',
  'outcome',
  'role',
  'error_type',
  'reason',
  'violations',
  'hint',
  'arguments',
  'user_id',
  'session_id',
  'project_id',
  'agent_version_id',
  'received_at',
] as const satisfies readonly (keyof DecisionRow)[];

/**
 * A stored row as the JSON text of a record (SPECIFICATION 2.6). hint and arguments go from the stored text to the
 * answer as they are, so that every number in them keeps its digits.
 */
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
