import { decisionEventSchema, OUTCOMES } from '../ingest/decision-event.ts';
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS } from '../records/export-decisions.ts';
import { llmInvocationSchema } from '../ingest/llm-invocation.ts';
import { FILTER_NAMES, LIMIT, OFFSET } from '../records/query-params.ts';
import { WINDOW_NAMES } from '../records/window.ts';
import type { ProblemCode } from '../errors.ts';
import { operation, type OperationGiven, type Parameter } from './operation.ts';
import { PROJECT_ID } from './parameters.ts';
import { publicSchema, ref } from './schema.ts';

const INGEST_PROBLEMS: ProblemCode[] = [
  'body_invalid',
  'occurred_at_out_of_range',
  'body_too_large',
  'row_rejected',
  'store_unavailable',
  'overloaded',
];
const READ_PROBLEMS: ProblemCode[] = ['window_invalid', 'query_invalid', 'store_unavailable', 'overloaded'];

const WINDOW: Parameter = {
  name: 'window',
  in: 'query',
  description: 'Records that occurred since now minus this, with no upper end',
  schema: { type: 'string', enum: WINDOW_NAMES, default: '24h' },
  example: '7d',
};
const FILTERS: Parameter[] = FILTER_NAMES.map((name) => ({
  name,
  in: 'query',
  description: name === 'outcome' ? 'Only this outcome' : "Absent: no filter. Empty: records where it is ''.",
  schema: name === 'outcome' ? { type: 'string', enum: OUTCOMES } : { type: 'string' },
}));
const PAGE: Parameter[] = [
  bounded('limit', LIMIT, 'How many records'),
  bounded('offset', OFFSET, 'How many to skip; to go further use `cursor`'),
  {
    name: 'cursor',
    in: 'query',
    description: 'The `next_cursor` of the page before',
    schema: { type: 'string' },
  },
];
const FORMAT: Parameter = {
  name: 'format',
  in: 'query',
  schema: { type: 'string', enum: EXPORT_FORMAT_NAMES, default: 'ndjson' },
};

function bounded(
  name: string,
  { fallback, min, max }: typeof LIMIT | typeof OFFSET,
  description: string,
): Parameter {
  return {
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: min, maximum: max, default: fallback },
  };
}

function read(
  id: string,
  given: Pick<OperationGiven, 'summary' | 'answers'> & { parameters?: Parameter[]; description?: string },
) {
  const { parameters = [], ...rest } = given;
  return {
    get: operation({
      id,
      tag: 'Audit reads',
      credential: 'read',
      parameters: [PROJECT_ID, WINDOW, ...parameters],
      problems: READ_PROBLEMS,
      ...rest,
    }),
  };
}

const exampleEvent = {
  event_id: '3f2b8c1e-4d5a-4b6c-8d7e-9f0a1b2c3d4e',
  occurred_at: '2026-01-31T12:00:00.000Z',
  agent_name: 'support-bot',
};

export function auditPaths() {
  const answer = (name: string) => ({ 200: { description: 'OK', schema: ref(name) } });
  const types = Object.values(EXPORT_FORMATS).map(({ type }) => type.replace(/;.*/, ''));
  return {
    '/v1/audit/decisions': {
      post: operation({
        id: 'recordDecision',
        tag: 'Ingest',
        summary: 'Records one decision, durably and once',
        description: 'Answered when the record is on disk. Sending an event_id again changes nothing.',
        credential: 'key',
        body: {
          schema: publicSchema(decisionEventSchema),
          example: { ...exampleEvent, tool_name: 'search', outcome: 'allow', arguments: { query: 'hello' } },
        },
        answers: { 202: { description: 'Written', schema: ref('Accepted') } },
        problems: [...INGEST_PROBLEMS, 'arguments_too_large', 'hint_too_large'],
      }),
    },
    '/v1/audit/llm-invocations': {
      post: operation({
        id: 'recordLlmInvocation',
        tag: 'Ingest',
        summary: 'Records the token usage of one model call',
        credential: 'key',
        body: {
          schema: publicSchema(llmInvocationSchema),
          example: {
            ...exampleEvent,
            model: 'model-1',
            input_tokens: 100,
            output_tokens: 20,
            cost_usd: 0.01,
          },
        },
        answers: { 202: { description: 'Written', schema: ref('Accepted') } },
        problems: INGEST_PROBLEMS,
      }),
    },
    '/v1/projects/{id}/audit/summary': read('readSummary', {
      summary: 'Totals, and the same by agent, role and tool',
      answers: answer('Summary'),
    }),
    '/v1/projects/{id}/audit/timeseries': read('readTimeseries', {
      summary: 'Outcome counts in buckets without gaps, oldest first',
      answers: answer('Timeseries'),
    }),
    '/v1/projects/{id}/audit/decisions': read('listDecisions', {
      summary: 'Records, newest first, filtered and page by page',
      parameters: [...PAGE, ...FILTERS],
      answers: answer('Decisions'),
    }),
    '/v1/projects/{id}/audit/decisions/export': read('exportDecisions', {
      summary: 'All matching records as a stream, newest first',
      description: 'One record a line, or CSV (RFC 4180) with the keys of a record as its header.',
      parameters: [FORMAT, ...FILTERS],
      answers: { 200: { description: 'OK', types } },
    }),
    '/v1/projects/{id}/audit/llm-usage': read('readLlmUsage', {
      summary: 'Calls, tokens and cost, and the same by model and agent',
      answers: answer('LlmUsage'),
    }),
  };
}
