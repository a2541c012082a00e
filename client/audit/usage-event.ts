import { textOf, timestampOf } from './decision-event.ts';

/** The token usage of one model call. Names follow OpenTelemetry's GenAI conventions. */
export type UsageInput = {
  agent_name: string;
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
  role?: string | undefined;
  user_id?: string | undefined;
  session_id?: string | undefined;
  event_id?: string | undefined;
  occurred_at?: string | Date | undefined;
};

const OPERATION_DEFAULT = 'chat';

/** Builds the body: every key present. */
export function usageEventFrom(usage: UsageInput, nowMs: number): Record<string, unknown> {
  return {
    event_id: textOf(usage.event_id) || crypto.randomUUID(),
    occurred_at: timestampOf(usage.occurred_at, nowMs),
    agent_name: textOf(usage.agent_name),
    model: textOf(usage.model),
    provider: textOf(usage.provider),
    operation: textOf(usage.operation) || OPERATION_DEFAULT,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cached_input_tokens: usage.cached_input_tokens ?? 0,
    reasoning_tokens: usage.reasoning_tokens ?? 0,
    duration_ms: Math.round(usage.duration_ms ?? 0),
    cost_usd: usage.cost_usd ?? null,
    finish_reason: textOf(usage.finish_reason),
    error_type: textOf(usage.error_type),
    role: textOf(usage.role),
    user_id: textOf(usage.user_id),
    session_id: textOf(usage.session_id),
  };
}
