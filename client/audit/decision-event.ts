import { ERROR_TYPES, type Outcome } from '../policy/language/index.ts';
import { VIOLATIONS_MAX } from '../policy/language/limits.ts';
import { jsonText, plainCopy, redact } from './plain-copy.ts';
import { fitArguments } from './truncate.ts';

/** A decision to record. What is left out is filled in; ids and timestamps are made. */
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
  const outcome = textOf(decision.outcome);
  return {
    event_id: textOf(decision.event_id) || crypto.randomUUID(),
    occurred_at: timestampOf(decision.occurred_at, nowMs),
    agent_name: textOf(decision.agent_name),
    tool_name: textOf(decision.tool_name),
    outcome,
    role: textOf(decision.role),
    error_type: Object.hasOwn(ERROR_TYPES, outcome) ? ERROR_TYPES[outcome as Outcome] : '',
    reason: textOf(decision.reason),
    violations: Array.isArray(decision.violations)
      ? decision.violations.slice(0, VIOLATIONS_MAX).map(textOf)
      : [],
    hint: objectOf(redact(decision.hint)),
    arguments: fitArguments(objectOf(redact(decision.arguments))),
    user_id: textOf(decision.user_id),
    session_id: textOf(decision.session_id),
  };
}

/** Callers without types may pass anything for a text. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : jsonText(plainCopy(value));
}

/** The given timestamp; the current time when it is absent or invalid. */
export function timestampOf(value: unknown, nowMs: number): string {
  if (typeof value === 'string' && value !== '') return value;
  const isDate = value instanceof Date && !Number.isNaN(value.getTime());
  return (isDate ? value : new Date(nowMs)).toISOString();
}

/** The wire accepts an object or null; wraps any other value in an object. */
function objectOf(plain: unknown): unknown {
  if (plain === undefined || plain === null) return null;
  return typeof plain === 'object' && !Array.isArray(plain) ? plain : { value: plain };
}
