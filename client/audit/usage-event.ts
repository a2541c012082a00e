import { timestampOf } from './decision-event.ts';
import { EventCopier } from './plain-copy.ts';

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

/** Builds the body: every key present, as plain data. */
export function usageEventFrom(usage: UsageInput, nowMs: number): Record<string, unknown> {
  const copier = new EventCopier();
  const text = (value: unknown): string => copier.text(value);
  const plain = (value: unknown): unknown => copier.plain(value);
  return {
    event_id: text(usage.event_id) || crypto.randomUUID(),
    occurred_at: timestampOf(usage.occurred_at, nowMs),
    agent_name: text(usage.agent_name),
    model: text(usage.model),
    provider: text(usage.provider),
    operation: text(usage.operation) || OPERATION_DEFAULT,
    input_tokens: plain(usage.input_tokens),
    output_tokens: plain(usage.output_tokens),
    cached_input_tokens: plain(usage.cached_input_tokens ?? 0),
    reasoning_tokens: plain(usage.reasoning_tokens ?? 0),
    duration_ms: plain(Math.round(usage.duration_ms ?? 0)),
    cost_usd: plain(usage.cost_usd ?? null),
    finish_reason: text(usage.finish_reason),
    error_type: text(usage.error_type),
    role: text(usage.role),
    user_id: text(usage.user_id),
    session_id: text(usage.session_id),
  };
}
