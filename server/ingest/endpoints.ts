import type { GroupCommit } from '../commit/group-commit.ts';
import { endpoint } from '../http/endpoint.ts';
import { answer, UUID } from '../http/schemas.ts';
import type { Metrics } from '../metrics.ts';
import { admitSizes } from './admit.ts';
import { DECISION_COLUMNS, decisionEventFrom, decisionEventSchema } from './decision-event.ts';
import { countProblem, createIngest, type IngestDeps } from './ingest.ts';
import { LLM_COLUMNS, llmInvocationFrom, llmInvocationSchema } from './llm-invocation.ts';

export type IngestEndpointDeps = IngestDeps & {
  decisions: GroupCommit;
  llmInvocations: GroupCommit;
  metrics: Metrics;
};

const INGEST = {
  method: 'POST',
  tag: 'Ingest',
  allow: { scope: 'emit_audit' },
  answers: {
    202: { description: 'The event is durable', schema: answer({ event_id: UUID }, 'Accepted') },
  },
  log: 'deferred',
} as const;
const PROBLEMS = ['occurred_at_out_of_range', 'row_rejected', 'overloaded'] as const;

const EXAMPLE = {
  event_id: '3f2b8c1e-4d5a-4b6c-8d7e-9f0a1b2c3d4e',
  occurred_at: '2026-01-31T12:00:00.000Z',
  agent_name: 'support-bot',
};

/** Both calls that record events, by the same rules. */
export function ingestEndpoints(deps: IngestEndpointDeps) {
  const { decisions, llmInvocations, metrics } = deps;
  return [
    endpoint({
      ...INGEST,
      path: '/v1/audit/decisions',
      id: 'recordDecision',
      summary: 'Record a decision',
      description:
        'Answers when the record is on disk. Sending an `event_id` again changes nothing: the first write wins.',
      agentOf: ({ body: { agent_name } }) => agent_name,
      body: {
        schema: decisionEventSchema,
        example: { ...EXAMPLE, tool_name: 'search', outcome: 'allow', arguments: { query: 'hello' } },
      },
      problems: [...PROBLEMS, 'arguments_too_large', 'hint_too_large'],
      onProblem: (code) => countProblem(metrics.ingest, code),
      handle: createIngest(deps, {
        eventFrom: decisionEventFrom,
        columns: DECISION_COLUMNS,
        commit: decisions,
        counter: metrics.ingest,
        admit: admitSizes,
        onAccepted: ({ outcome }) => metrics.written.inc({ outcome }),
      }),
    }),
    endpoint({
      ...INGEST,
      path: '/v1/audit/llm-invocations',
      id: 'recordLlmInvocation',
      summary: 'Record token usage',
      description: 'Records the token usage of one model call, by the rules of decisions.',
      agentOf: ({ body: { agent_name } }) => agent_name,
      body: {
        schema: llmInvocationSchema,
        example: { ...EXAMPLE, model: 'model-1', input_tokens: 100, output_tokens: 20, cost_usd: 0.01 },
      },
      problems: PROBLEMS,
      onProblem: (code) => countProblem(metrics.ingestLlm, code),
      handle: createIngest(deps, {
        eventFrom: llmInvocationFrom,
        columns: LLM_COLUMNS,
        commit: llmInvocations,
        counter: metrics.ingestLlm,
      }),
    }),
  ];
}
