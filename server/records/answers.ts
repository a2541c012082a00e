import type { Static } from 'typebox';
import {
  answer,
  COUNT,
  NEXT_CURSOR,
  nullable,
  NULLABLE_OBJECT,
  NULLABLE_TIME,
  oneOf,
  STRING,
  TIME,
  UUID,
} from '../http/schemas.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';
import { STREAMS } from './ledger.ts';
import { DIMENSION_NAMES } from './breakdown.ts';
import { USAGE_DIMENSION_NAMES } from './llm-usage.ts';
import { BUCKET_SECONDS, WINDOW_NAMES, type WindowName } from './window.ts';
import { Type } from '../type.ts';

const OUTCOME = oneOf(OUTCOMES);
const WINDOW = nullable<WindowName>('string', {
  enum: [...WINDOW_NAMES, null],
  description: 'Null for a range',
});
const COUNTS = { total: COUNT, allow: COUNT, deny: COUNT, needs_approval: COUNT };
const SCOPE = { project_id: STRING, window: WINDOW, from: TIME, to: TIME };

const LEFT_OUT = answer({ entries: COUNT, ...COUNTS });
const OTHERS = nullable<Static<typeof LEFT_OUT>>('object', LEFT_OUT);

const COMPLETENESS_COUNTS = {
  emitters: Type.Integer({ minimum: 0, description: 'Senders with numbered events in this period' }),
  unclosed: Type.Integer({
    minimum: 0,
    description: 'Senders that have sent nothing for an hour and have not reported their end',
  }),
  emitted: Type.Integer({ minimum: 0, description: 'received + dropped + missing' }),
  received: COUNT,
  dropped: Type.Integer({ minimum: 0, description: 'Events that their senders reported as dropped' }),
  missing: Type.Integer({
    minimum: 0,
    description: 'Numbered events that did not arrive for an unknown reason',
  }),
  percent: Type.Unsafe<number | null>({
    type: ['number', 'null'],
    minimum: 0,
    maximum: 100,
    description: '100 × received / emitted, cut to two decimals; null when nothing was emitted',
  }),
};
export const COMPLETENESS = answer({ ...SCOPE, ...COMPLETENESS_COUNTS }, 'Completeness');
const COMPLETENESS_OF_DECISIONS = answer(COMPLETENESS_COUNTS);

export const GAPS = answer(
  {
    items: Type.Array(
      answer({
        emitter: UUID,
        agent_name: STRING,
        stream: oneOf(STREAMS),
        from_sequence: COUNT,
        to_sequence: COUNT,
        dropped: COUNT,
        missing: COUNT,
        after: NULLABLE_TIME,
        before: TIME,
      }),
    ),
    next_cursor: NEXT_CURSOR,
  },
  'Gaps',
);

export const SUMMARY = answer(
  {
    ...SCOPE,
    totals: answer(COUNTS),
    by_agent: Type.Array(answer({ agent_name: STRING, ...COUNTS })),
    by_role: Type.Array(answer({ role: STRING, ...COUNTS })),
    by_tool: Type.Array(answer({ tool_name: STRING, ...COUNTS })),
    others: answer({ by_agent: OTHERS, by_role: OTHERS, by_tool: OTHERS }),
    completeness: nullable<Static<typeof COMPLETENESS_OF_DECISIONS>>('object', {
      ...COMPLETENESS_OF_DECISIONS,
      description: 'How many of the emitted events arrived; null when no sender numbers its events',
    }),
  },
  'Summary',
);

export const BREAKDOWN_ANSWER = answer(
  {
    ...SCOPE,
    by: oneOf(DIMENSION_NAMES),
    items: Type.Array(answer({ value: STRING, ...COUNTS, first: TIME, last: TIME })),
    others: OTHERS,
  },
  'Breakdown',
);

const BUCKETS = {
  ...SCOPE,
  bucket_seconds: Type.Unsafe<number>({ type: 'integer', enum: [...BUCKET_SECONDS] }),
};
export const TIMESERIES = answer(
  { ...BUCKETS, buckets: Type.Array(answer({ start: TIME, ...COUNTS })) },
  'Timeseries',
);

const USAGE = {
  calls: COUNT,
  input_tokens: COUNT,
  output_tokens: COUNT,
  cached_input_tokens: COUNT,
  reasoning_tokens: COUNT,
  cost_usd: Type.Number({ minimum: 0, description: 'The sum of the costs that were reported' }),
};
export const LLM_USAGE = answer(
  {
    ...SCOPE,
    totals: answer(USAGE),
    by_model: Type.Array(answer({ model: STRING, ...USAGE })),
    by_agent: Type.Array(answer({ agent_name: STRING, ...USAGE })),
  },
  'LlmUsage',
);

const OTHER_USAGE = answer({ entries: COUNT, ...USAGE });
export const LLM_USAGE_BREAKDOWN = answer(
  {
    ...SCOPE,
    by: oneOf(USAGE_DIMENSION_NAMES),
    items: Type.Array(answer({ value: STRING, ...USAGE, first: TIME, last: TIME })),
    others: nullable<Static<typeof OTHER_USAGE>>('object', OTHER_USAGE),
  },
  'LlmUsageBreakdown',
);

export const LLM_USAGE_TIMESERIES = answer(
  { ...BUCKETS, buckets: Type.Array(answer({ start: TIME, ...USAGE })) },
  'LlmUsageTimeseries',
);

export const LLM_INVOCATIONS = answer(
  {
    ...SCOPE,
    total: COUNT,
    limit: COUNT,
    offset: COUNT,
    next_cursor: NEXT_CURSOR,
    items: Type.Array(
      answer(
        {
          event_id: UUID,
          occurred_at: TIME,
          agent_name: STRING,
          model: STRING,
          provider: STRING,
          operation: STRING,
          input_tokens: COUNT,
          output_tokens: COUNT,
          cached_input_tokens: COUNT,
          reasoning_tokens: COUNT,
          duration_ms: COUNT,
          cost_usd: Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0 }),
          finish_reason: STRING,
          error_type: STRING,
          role: STRING,
          user_id: STRING,
          session_id: STRING,
          project_id: STRING,
          received_at: TIME,
        },
        'LlmInvocation',
      ),
    ),
  },
  'LlmInvocations',
);

export const DECISION = answer(
  {
    event_id: UUID,
    occurred_at: TIME,
    agent_name: STRING,
    tool_name: STRING,
    outcome: OUTCOME,
    role: STRING,
    error_type: STRING,
    reason: STRING,
    violations: Type.Array(STRING),
    hint: NULLABLE_OBJECT,
    arguments: NULLABLE_OBJECT,
    user_id: STRING,
    session_id: STRING,
    project_id: STRING,
    agent_version_id: STRING,
    received_at: TIME,
  },
  'Decision',
);

export const DECISIONS = answer(
  {
    project_id: STRING,
    window: WINDOW,
    total: COUNT,
    limit: COUNT,
    offset: COUNT,
    next_cursor: NEXT_CURSOR,
    items: Type.Array(DECISION),
  },
  'Decisions',
);
