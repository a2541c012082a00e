import { randomUUID } from 'node:crypto';
import { LABEL_LENGTH_MAX } from '../limits.ts';
import { ROLE_NAME_LENGTH_MAX } from '../policy/language/limits.ts';
import { timestampOf, type DecisionInput } from './decision-event.ts';
import { EventCopier } from './plain-copy.ts';

/** The token usage of one model call. Names follow OpenTelemetry's GenAI conventions. */
export type UsageInput = Pick<
  DecisionInput,
  'agent_name' | 'role' | 'user_id' | 'session_id' | 'event_id' | 'occurred_at'
> & {
  model: string;
  input_tokens: number;
  output_tokens: number;
  provider?: string | undefined;
  operation?: string | undefined;
  cached_input_tokens?: number | undefined;
  reasoning_tokens?: number | undefined;
  duration_ms?: number | undefined;
  cost_usd?: number | null | undefined;
  finish_reason?: string | undefined;
  error_type?: string | undefined;
};

const OPERATION_DEFAULT = 'chat';

/** Builds the body: every key present, as plain data. */
export function usageEventFrom(usage: UsageInput, nowMs: number): Record<string, unknown> {
  const { text, name, plain } = new EventCopier();
  const label = (value: unknown): string => name(value, LABEL_LENGTH_MAX);
  return {
    event_id: text(usage.event_id) || randomUUID(),
    occurred_at: timestampOf(usage.occurred_at, nowMs),
    agent_name: name(usage.agent_name),
    model: name(usage.model),
    provider: label(usage.provider),
    operation: label(usage.operation) || OPERATION_DEFAULT,
    input_tokens: plain(usage.input_tokens),
    output_tokens: plain(usage.output_tokens),
    cached_input_tokens: plain(usage.cached_input_tokens ?? 0),
    reasoning_tokens: plain(usage.reasoning_tokens ?? 0),
    duration_ms: plain(Math.round(usage.duration_ms ?? 0)),
    cost_usd: plain(usage.cost_usd ?? null),
    finish_reason: label(usage.finish_reason),
    error_type: label(usage.error_type),
    role: name(usage.role, ROLE_NAME_LENGTH_MAX),
    user_id: name(usage.user_id),
    session_id: name(usage.session_id),
  };
}
