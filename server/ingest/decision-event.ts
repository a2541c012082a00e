import type { Static } from 'typebox';
import { ERROR_TYPES } from '../../client/policy/language/decision.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { text } from '../validate.ts';
import { parseRfc3339 } from '../rfc3339.ts';
import { type EventOf, COMMON_FIELDS, optionalText } from './event.ts';
import { columnsOf, type RowKind, rowKindOf } from './event-row.ts';
import { Type } from '../type.ts';

export const OUTCOMES = ['allow', 'deny', 'needs_approval'] as const;

function optionalObject(description: string) {
  return Type.Optional(Type.Unsafe<object | null>({ type: ['object', 'null'], default: null, description }));
}

const { event_id, occurred_at, agent_name, role, user_id, session_id } = COMMON_FIELDS;

/** The thirteen keys of a decision, in the order of a record. Parser, columns, record keys and types follow from it. */
export const decisionEventSchema = Type.Object({
  event_id,
  occurred_at,
  agent_name,
  tool_name: text(200, { minLength: 1 }),
  outcome: Type.Enum([...OUTCOMES], { type: 'string' }),
  role,
  error_type: Type.Optional(text(100, { description: 'Derived from outcome when absent or empty' })),
  reason: optionalText(4000),
  violations: Type.Optional(Type.Array(text(1000), { maxItems: 100, default: [] })),
  hint: optionalObject('At most 4,096 bytes of JSON'),
  arguments: optionalObject('At most 8,192 bytes of JSON'),
  user_id,
  session_id,
});

type DecisionBody = Static<typeof decisionEventSchema>;

/** hint and arguments are JSON text, '' for null. */
export type DecisionEvent = Omit<EventOf<typeof decisionEventSchema>, 'hint' | 'arguments'> & {
  hint: string;
  arguments: string;
};

export const DECISION_ROW: RowKind<DecisionEvent> = rowKindOf(decisionEventSchema, { isLogged: true });
export const DECISION_COLUMNS = columnsOf(DECISION_ROW);

/** `bodyText` is the text of the body: its numbers have all their digits. */
export function decisionEventFrom(body: DecisionBody, bodyText: string): DecisionEvent {
  const { value, textOf } = hasNumberAtRisk(bodyText)
    ? exactJson(bodyText)
    : { value: body, textOf: JSON.stringify };
  const objects = value as DecisionBody;
  // Written by hand: copying the fields by their names takes three times as long.
  const { event_id, occurred_at, agent_name, tool_name, outcome } = body;
  const { role, reason, violations, user_id, session_id } = body as Required<DecisionBody>;
  return {
    event_id: event_id.toLowerCase(),
    occurred_at,
    occurredAtMs: parseRfc3339(occurred_at) as number,
    agent_name,
    tool_name,
    outcome,
    role,
    error_type: body.error_type || ERROR_TYPES[outcome],
    reason,
    violations,
    hint: jsonTextOf(objects.hint, textOf),
    arguments: jsonTextOf(objects.arguments, textOf),
    user_id,
    session_id,
  };
}

/** Replaces JSON nested too deeply for JSON.stringify. It is over 8,192 bytes, so `admitSizes` refuses it. */
const TOO_DEEP = ' '.repeat(16 * 1024);

function jsonTextOf(value: object | null | undefined, textOf: (value: object) => string): string {
  if (value === null || value === undefined) return '';
  try {
    return textOf(value);
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP;
    throw error;
  }
}
