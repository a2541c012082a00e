import { parseJson } from '../json.ts';
import { createParser } from '../validate.ts';
import { text, UUID_PATTERN } from './decision-event.ts';

/** One call of a language model, as CONTRACT 4 has it; the names mean what OpenTelemetry's GenAI conventions say. */
export type LlmInvocation = {
  event_id: string;
  occurred_at: string;
  agent_name: string;
  model: string;
  provider: string;
  operation: string;
  input_tokens: number;
  output_tokens: number;
  cached_input_tokens: number;
  reasoning_tokens: number;
  duration_ms: number;
  cost_usd: number | null;
  finish_reason: string;
  error_type: string;
  role: string;
  user_id: string;
  session_id: string;
};

const REQUIRED = ['event_id', 'occurred_at', 'agent_name', 'model', 'input_tokens', 'output_tokens'] as const;
type LlmBody = Pick<LlmInvocation, (typeof REQUIRED)[number]> & Partial<LlmInvocation>;

const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

export const llmInvocationSchema = {
  type: 'object',
  required: REQUIRED,
  properties: {
    event_id: { type: 'string', pattern: UUID_PATTERN },
    occurred_at: { type: 'string', format: 'date-time' },
    agent_name: text(200, 1),
    model: text(200, 1),
    provider: { ...text(100), default: '' },
    operation: { ...text(100), default: 'chat' },
    input_tokens: count,
    output_tokens: count,
    cached_input_tokens: { ...count, default: 0 },
    reasoning_tokens: { ...count, default: 0 },
    duration_ms: { ...count, default: 0 },
    cost_usd: { type: ['number', 'null'], minimum: 0, default: null },
    finish_reason: { ...text(100), default: '' },
    error_type: { ...text(100), default: '' },
    role: { ...text(100), default: '' },
    user_id: { ...text(200), default: '' },
    session_id: { ...text(200), default: '' },
  },
} as const;

const parseBody = createParser<LlmBody>(llmInvocationSchema);

/** Reads the body of a usage report: copies the known keys and nothing else. Throws body_invalid. */
export function parseLlmInvocation(bodyText: string): LlmInvocation {
  const body = parseBody(parseJson(bodyText));
  return {
    event_id: body.event_id.toLowerCase(),
    occurred_at: body.occurred_at,
    agent_name: body.agent_name,
    model: body.model,
    provider: body.provider ?? '',
    operation: body.operation ?? 'chat',
    input_tokens: body.input_tokens,
    output_tokens: body.output_tokens,
    cached_input_tokens: body.cached_input_tokens ?? 0,
    reasoning_tokens: body.reasoning_tokens ?? 0,
    duration_ms: body.duration_ms ?? 0,
    cost_usd: body.cost_usd ?? null,
    finish_reason: body.finish_reason ?? '',
    error_type: body.error_type ?? '',
    role: body.role ?? '',
    user_id: body.user_id ?? '',
    session_id: body.session_id ?? '',
  };
}
