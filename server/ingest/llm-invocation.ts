import type { Static } from 'typebox';
import { decimalFrom } from '../../client/policy/language/decimal.ts';
import { exactJson, hasNumberAtRisk } from '../json.ts';
import { bodyInvalid, text } from '../validate.ts';
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

type LlmBody = Static<typeof llmInvocationSchema>;
export type LlmInvocation = EventOf<typeof llmInvocationSchema>;

export const LLM_ROW: RowKind<LlmInvocation> = rowKindOf(llmInvocationSchema, { isLogged: false });
export const LLM_COLUMNS = columnsOf(LLM_ROW);

const COUNTS = new Set(
  Object.entries(llmInvocationSchema.properties)
    .filter(([, schema]) => 'type' in schema && schema.type === 'integer')
    .map(([name]) => name),
);
const copy = createEventCopy(llmInvocationSchema);

/** `bodyText` is the text of the body: its numbers have all their digits. Throws body_invalid. */
export function llmInvocationFrom(body: LlmBody, bodyText: string): LlmInvocation {
  if (hasNumberAtRisk(bodyText)) requireUnrounded(bodyText);
  return copy(body);
}

/** The parser turns 0.99999999999999999999 into an integer within the bounds, and -1e-400 into zero. */
function requireUnrounded(bodyText: string): void {
  const { value, textOf } = exactJson(bodyText);
  for (const [name, number] of Object.entries(value as LlmBody)) {
    const isCount = COUNTS.has(name);
    if (!isCount && (name !== 'cost_usd' || number === null)) continue;
    const sent = decimalFrom(textOf(number));
    if (sent?.negative !== false) throw bodyInvalid([{ path: `/${name}`, message: 'must be >= 0' }]);
    if (isCount && sent.digits.length > sent.exponent)
      throw bodyInvalid([{ path: `/${name}`, message: 'must be integer, not a number with a fraction' }]);
  }
}
