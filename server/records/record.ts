import { rfc3339FromClickhouse } from '../store/time.ts';
import { type DecisionEvent, decisionEventSchema } from '../ingest/decision-event.ts';

/** A row of decisions_page.sql: times as the store prints them, hint and arguments as JSON text, '' for null. */
export type DecisionRow = Omit<DecisionEvent, 'occurredAtMs'> & Record<(typeof SERVER_KEYS)[number], string>;

const SERVER_KEYS = ['project_id', 'agent_version_id', 'received_at'] as const;

/** The keys of a record, in the order of an export. */
export const RECORD_KEYS = [...Object.keys(decisionEventSchema.properties), ...SERVER_KEYS];

/**
 * A stored row as the JSON text of a record. hint and arguments are copied from the stored text unchanged, so that every number in them
 * keeps its digits.
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
