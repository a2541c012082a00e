import { text } from '../validate.ts';
import { type EventOf, COMMON_FIELDS, createEventCopy, optionalText } from './event.ts';
import { columnsOf, type RowKind, rowKindOf } from './event-row.ts';
import { Type } from '../type.ts';

const COUNT = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const optionalCount = () => Type.Optional(Type.Integer({ ...COUNT, default: 0 }));

/** One call of a language model. The names follow OpenTelemetry's GenAI conventions. */
export const llmInvocationSchema = Type.Object({
  ...COMMON_FIELDS,
  model: text(200, { minLength: 1 }),
  provider: optionalText(100),
  operation: optionalText(100, 'chat'),
  input_tokens: Type.Integer(COUNT),
  output_tokens: Type.Integer(COUNT),
  cached_input_tokens: optionalCount(),
  reasoning_tokens: optionalCount(),
  duration_ms: optionalCount(),
  cost_usd: Type.Optional(
    Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, default: null }),
  ),
  finish_reason: optionalText(100),
  error_type: optionalText(100),
});

export type LlmInvocation = EventOf<typeof llmInvocationSchema>;

export const LLM_ROW: RowKind<LlmInvocation> = rowKindOf(llmInvocationSchema, { isLogged: false });
export const LLM_COLUMNS = columnsOf(LLM_ROW);

export const llmInvocationFrom = createEventCopy(llmInvocationSchema);
