import type { TObject } from 'typebox';
import type { GroupCommit } from '../commit/group-commit.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { answer, oneOf, UUID } from '../http/schemas.ts';
import { BATCH_EVENTS_MAX } from '../limits.ts';
import type { Metrics } from '../metrics.ts';
import { admitSizes } from './admit.ts';
import { createBatchIngest } from './batch.ts';
import type { EmitterCloses } from './emitter-closes.ts';
import { NO_EMITTER } from './ledger.ts';
import {
  DECISION_ROW,
  type DecisionEvent,
  decisionEventFrom,
  decisionEventSchema,
} from './decision-event.ts';
import { UUID_TEXT } from './event.ts';
import { countProblem, createIngest, type IngestDeps } from './ingest.ts';
import { BATCH_ANSWER } from './judgement.ts';
import type { Receipts } from './receipts.ts';
import { LLM_ROW, llmInvocationFrom, llmInvocationSchema } from './llm-invocation.ts';
import { Type } from '../type.ts';

export type IngestEndpointDeps = IngestDeps & {
  decisions: GroupCommit;
  llmInvocations: GroupCommit;
  emitterCloses: EmitterCloses;
  metrics: Metrics;
  receipts: Receipts;
};

const INGEST = {
  method: 'POST',
  tag: 'Ingest',
  allow: { scope: 'emit_audit' },
  headers: {
    'Gate-Emitter': 'A UUID of the sender, made when it starts',
    'Gate-Sequence':
      'The number that the sender gave the event, from 1; for a batch ranges such as `5-60,63-70`',
    'Gate-Dropped':
      'How many events with lower numbers the sender dropped; for a batch, below its last number',
  },
  log: 'deferred',
} as const;
const ONE = {
  answers: { 202: { description: 'The event is durable', schema: answer({ event_id: UUID }, 'Accepted') } },
} as const;
const HEADERS_OF_DECISIONS = {
  ...INGEST.headers,
  'Gate-Want-Receipt':
    '`1`: return a receipt, a compact JWS that the root key signs and that names the entry of the record in the log, in the header `Gate-Receipt`, or for a batch in `receipts`',
};
const BATCH = {
  answers: {
    202: { description: 'All events are durable', schema: BATCH_ANSWER },
    207: { description: 'Some events were rejected, and all others are durable', schema: BATCH_ANSWER },
  },
  problems: ['overloaded'],
} as const;
const PROBLEMS = ['occurred_at_out_of_range', 'row_rejected', 'overloaded'] as const;

const EXAMPLE = {
  event_id: '3f2b8c1e-4d5a-4b6c-8d7e-9f0a1b2c3d4e',
  occurred_at: '2026-01-31T12:00:00.000Z',
  agent_name: 'support-bot',
};
const DECISION = { ...EXAMPLE, tool_name: 'search', outcome: 'allow', arguments: { query: 'hello' } };
const USAGE = { ...EXAMPLE, model: 'model-1', input_tokens: 100, output_tokens: 20, cost_usd: 0.01 };

const NUMBERS = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const CLOSE = Type.Object({
  stream: oneOf(['decisions', 'llm_invocations']),
  emitted: NUMBERS,
  dropped: NUMBERS,
  failed: NUMBERS,
});

/** The calls that record events, one by one or in batches, by the same rules. */
export function ingestEndpoints(deps: IngestEndpointDeps) {
  const { decisions, llmInvocations, emitterCloses, metrics, receipts } = deps;
  const decisionKind = {
    schema: decisionEventSchema,
    eventFrom: decisionEventFrom,
    row: DECISION_ROW,
    commit: decisions,
    counter: metrics.ingest,
    admit: admitSizes,
    written: { counter: metrics.written, outcomeOf: ({ outcome }: DecisionEvent) => outcome },
    receipts,
  };
  const usageKind = {
    schema: llmInvocationSchema,
    eventFrom: llmInvocationFrom,
    row: LLM_ROW,
    commit: llmInvocations,
    counter: metrics.ingestLlm,
  };
  return [
    endpoint({
      ...INGEST,
      ...ONE,
      path: '/v1/audit/decisions',
      id: 'recordDecision',
      summary: 'Record a decision',
      headers: HEADERS_OF_DECISIONS,
      description:
        'Answers when the record is on disk. Sending an `event_id` again changes nothing: the first write wins.',
      agentOf: ({ body: { agent_name } }) => agent_name,
      body: { schema: decisionEventSchema, example: DECISION },
      problems: [...PROBLEMS, 'arguments_too_large', 'hint_too_large'],
      onProblem: (code) => countProblem(metrics.ingest, code),
      handle: createIngest(deps, decisionKind),
    }),
    endpoint({
      ...INGEST,
      ...ONE,
      path: '/v1/audit/llm-invocations',
      id: 'recordLlmInvocation',
      summary: 'Record token usage',
      description: 'Records the token usage of one model call, under the same rules as decisions.',
      agentOf: ({ body: { agent_name } }) => agent_name,
      body: { schema: llmInvocationSchema, example: USAGE },
      problems: PROBLEMS,
      onProblem: (code) => countProblem(metrics.ingestLlm, code),
      handle: createIngest(deps, usageKind),
    }),
    endpoint({
      ...INGEST,
      ...BATCH,
      path: '/v1/audit/decisions/batch',
      id: 'recordDecisions',
      summary: 'Record many decisions',
      headers: HEADERS_OF_DECISIONS,
      description:
        'Checks each decision by itself, and answers when the accepted ones are on disk. The answer lists the rejected ones.',
      body: { schema: listOfEvents(decisionEventSchema), example: [DECISION], isList: true },
      onProblem: (code) => countProblem(metrics.ingest, code),
      handle: createBatchIngest(deps, decisionKind),
    }),
    endpoint({
      ...INGEST,
      ...BATCH,
      path: '/v1/audit/llm-invocations/batch',
      id: 'recordLlmInvocations',
      summary: 'Record token usage of many calls',
      description:
        'Records the token usage of many model calls, under the same rules as batches of decisions.',
      body: { schema: listOfEvents(llmInvocationSchema), example: [USAGE], isList: true },
      onProblem: (code) => countProblem(metrics.ingestLlm, code),
      handle: createBatchIngest(deps, usageKind),
    }),
    endpoint({
      method: 'POST',
      tag: 'Ingest',
      allow: { scope: 'emit_audit' },
      path: '/v1/audit/emitters/{emitter}/close',
      id: 'closeEmitter',
      summary: 'Report that a sender has ended',
      description:
        'How many events the sender numbered, dropped and failed to send, so that losses at its end are counted, too. The first report of a sender counts.',
      params: {
        emitter: Type.String({
          format: 'uuid',
          description: 'The `Gate-Emitter` of its events, in any case',
        }),
      },
      body: { schema: CLOSE, example: { stream: 'decisions', emitted: 10_000, dropped: 137, failed: 4 } },
      answers: {
        202: {
          description: 'The report, or an earlier one of the sender, is durable',
          schema: answer({ emitter: UUID }),
        },
      },
      problems: ['not_found', 'overloaded'],
      handle: async ({ caller: { project_id }, params, body }) => {
        const emitter = params.emitter.toLowerCase();
        if (!UUID_TEXT.test(emitter) || emitter === NO_EMITTER)
          throw new RequestError('not_found', 'An emitter is a UUID other than the nil UUID');
        const { stream, emitted, dropped, failed } = body;
        await emitterCloses.write({ project_id, emitter, stream, emitted, dropped, failed });
        return { emitter };
      },
    }),
  ];
}

function listOfEvents(schema: TObject) {
  return Type.Array(schema, { minItems: 1, maxItems: BATCH_EVENTS_MAX });
}
