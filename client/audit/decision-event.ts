import { VIOLATIONS_MAX } from '../policy/language/limits.ts';
import { jsonText, plainCopy, redact } from './plain-copy.ts';
import { fitArguments } from './truncate.ts';

export type Outcome = 'allow' | 'deny' | 'needs_approval';

/** What a caller of `emit` says; the rest of the event is filled in. */
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
  occurred_at?: string | Date | undefined;
};

/** Spec 2.1: the thirteen keys of the wire body. */
export type DecisionEvent = {
  event_id: string;
  occurred_at: string;
  agent_name: string;
  tool_name: string;
  outcome: string;
  role: string;
  error_type: string;
  reason: string;
  violations: string[];
  hint: unknown;
  arguments: unknown;
  user_id: string;
  session_id: string;
};

/** Spec 2.3. */
export const ERROR_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['allow', ''],
  ['deny', 'policy_denied'],
  ['needs_approval', 'approval_required'],
]);

/** The event as it goes over the wire: every key present, redacted, then cut to size. */
export function decisionEventFrom(decision: DecisionInput, nowMs: number): DecisionEvent {
  return {
    event_id: textOf(decision.event_id) || crypto.randomUUID(),
    occurred_at: timestampOf(decision.occurred_at, nowMs),
    agent_name: textOf(decision.agent_name),
    tool_name: textOf(decision.tool_name),
    outcome: textOf(decision.outcome),
    role: textOf(decision.role),
    error_type: ERROR_TYPES.get(decision.outcome) ?? '',
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

/** The types promise text; callers without types may pass anything. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : jsonText(plainCopy(value));
}

/** A valid timestamp whatever was given: the clock's, when it was none. */
export function timestampOf(value: unknown, nowMs: number): string {
  if (typeof value === 'string' && value !== '') return value;
  const isDate = value instanceof Date && !Number.isNaN(value.getTime());
  return (isDate ? value : new Date(nowMs)).toISOString();
}

/** The wire knows objects and null only; anything else that was passed is kept inside one. */
function objectOf(plain: unknown): unknown {
  if (plain === undefined || plain === null) return null;
  return typeof plain === 'object' && !Array.isArray(plain) ? plain : { value: plain };
}
