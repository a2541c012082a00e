import { randomUUID } from 'node:crypto';
import { isObject } from '../json.ts';
import { ERROR_TYPES, type Outcome } from '../policy/language/decision.ts';
import { HINT_BYTES_MAX, ROLE_NAME_LENGTH_MAX, VIOLATIONS_MAX } from '../policy/language/limits.ts';
import { ARGUMENTS_BYTES_MAX } from '../limits.ts';
import { EventCopier, type Shaped } from './plain-copy.ts';
import { fitted } from './truncate.ts';

/** Recorded for an empty tool name, which the service refuses. */
const TOOL_NAME_EMPTY = '(none)';

/** A decision to record. Omitted fields are filled in; ids and timestamps are generated. */
export type DecisionInput = {
  agent_name: string;
  tool_name: string;
  outcome: Outcome;
  role?: string | undefined;
  reason?: string | undefined;
  violations?: readonly string[] | undefined;
  hint?: Readonly<Record<string, unknown>> | null | undefined;
  arguments?: unknown;
  user_id?: string | undefined;
  session_id?: string | undefined;
  event_id?: string | undefined;
  /** RFC 3339, or a Date; default now. */
  occurred_at?: string | Date | undefined;
};

/** The body on the wire: all thirteen keys. */
export type DecisionEvent = ReturnType<typeof decisionEventFrom>;

/** Builds the body: every key present, redacted, then cut to size. */
export function decisionEventFrom(decision: DecisionInput, nowMs: number) {
  const { text, name, redacted } = new EventCopier();
  const outcome = text(decision.outcome);
  // Before the arguments, which may use up the event's read budget.
  const [user_id, session_id] = [name(decision.user_id), name(decision.session_id)];
  return {
    event_id: text(decision.event_id) || randomUUID(),
    occurred_at: timestampOf(decision.occurred_at, nowMs),
    agent_name: name(decision.agent_name),
    tool_name: name(decision.tool_name) || TOOL_NAME_EMPTY,
    outcome,
    role: name(decision.role, ROLE_NAME_LENGTH_MAX),
    error_type: Object.hasOwn(ERROR_TYPES, outcome) ? ERROR_TYPES[outcome as Outcome] : '',
    reason: text(decision.reason),
    violations: Array.isArray(decision.violations)
      ? decision.violations.slice(0, VIOLATIONS_MAX).map(text)
      : [],
    hint: hintFrom(objectOf(redacted(decision.hint))),
    arguments: fitted(objectOf(redacted(decision.arguments)), ARGUMENTS_BYTES_MAX),
    user_id,
    session_id,
  };
}

/** A hint keeps its size, unless a part of it was not read. */
function hintFrom(hint: Shaped): unknown {
  return hint.isCut ? fitted(hint, HINT_BYTES_MAX) : hint.plain;
}

/** The given timestamp; the current time when it is absent or invalid. */
export function timestampOf(value: unknown, nowMs: number): string {
  if (typeof value === 'string' && value !== '') return value;
  const isDate = value instanceof Date && !Number.isNaN(value.getTime());
  return (isDate ? value : new Date(nowMs)).toISOString();
}

/** The wire accepts an object or null; wraps any other value in an object. */
function objectOf({ plain, isCut }: Shaped): Shaped {
  if (plain === undefined || plain === null) return { plain: null, isCut };
  return { plain: isObject(plain) ? plain : { value: plain }, isCut };
}
