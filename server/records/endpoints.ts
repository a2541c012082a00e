import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { Response } from 'express';
import { type Static, Type } from 'typebox';
import { endpoint } from '../http/endpoint.ts';
import {
  answer,
  COUNT,
  nullable,
  NULLABLE_OBJECT,
  oneOf,
  PROJECT_ID,
  STRING,
  TIME,
  UUID,
} from '../http/schemas.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';

import { readSummary, readTimeseries, type ReadScope } from './counts.ts';
import { parseCursor } from './cursor.ts';
import { createReads, type RunRead, type RunReadBytes, type Writers } from './days.ts';
import { type DecisionFilters, readDecisions } from './decisions.ts';
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, exportBytes, type ExportFormat } from './export-decisions.ts';
import { readLlmUsage } from './llm-usage.ts';
import { readWindow, WINDOW_NAMES, type WindowName } from './window.ts';

export type ReadDeps = {
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  writers: Writers;
  now: () => number;
};

const OUTCOME = oneOf(OUTCOMES);
const WINDOW = oneOf(WINDOW_NAMES);
const COUNTS = { total: COUNT, allow: COUNT, deny: COUNT, needs_approval: COUNT };
const SCOPE = { project_id: STRING, window: WINDOW, from: TIME, to: TIME };

const LEFT_OUT = answer({ entries: COUNT, ...COUNTS });
const OTHERS = nullable<Static<typeof LEFT_OUT>>('object', LEFT_OUT);

const SUMMARY = answer(
  {
    ...SCOPE,
    totals: answer(COUNTS),
    by_agent: Type.Array(answer({ agent_name: STRING, ...COUNTS })),
    by_role: Type.Array(answer({ role: STRING, ...COUNTS })),
    by_tool: Type.Array(answer({ tool_name: STRING, ...COUNTS })),
    others: answer({ by_agent: OTHERS, by_role: OTHERS, by_tool: OTHERS }),
  },
  'Summary',
);

const TIMESERIES = answer(
  {
    ...SCOPE,
    bucket_seconds: Type.Unsafe<number>({ type: 'integer', enum: [3600, 21_600, 86_400] }),
    buckets: Type.Array(answer({ start: TIME, ...COUNTS })),
  },
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
const LLM_USAGE = answer(
  {
    ...SCOPE,
    totals: answer(USAGE),
    by_model: Type.Array(answer({ model: STRING, ...USAGE })),
    by_agent: Type.Array(answer({ agent_name: STRING, ...USAGE })),
  },
  'LlmUsage',
);

const DECISION = answer(
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

const DECISIONS = answer(
  {
    project_id: STRING,
    window: WINDOW,
    total: COUNT,
    limit: COUNT,
    offset: COUNT,
    next_cursor: nullable<string>('string', { description: 'For `cursor`; null on the last page' }),
    items: Type.Array(DECISION),
  },
  'Decisions',
);

const WINDOW_QUERY = {
  window: oneOf(WINDOW_NAMES, {
    default: '24h',
    description: 'How far to look back from now. There is no upper end.',
    examples: ['7d'],
    'x-problem': 'window_invalid',
  }),
};

const filter = Type.Optional(
  Type.String({ format: 'text', description: 'Absent: no filter. Empty: records where the field is empty.' }),
);
const FILTERS = {
  agent: filter,
  role: filter,
  outcome: Type.Optional(oneOf(OUTCOMES, { description: 'Only this outcome' })),
  tool: filter,
  user_id: filter,
  session_id: filter,
};

const PAGE = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50, description: 'The length of a page' }),
  offset: Type.Integer({
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'How many records to skip. Use `cursor` to go further.',
  }),
  cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the page before' })),
};

const READ = {
  method: 'GET',
  tag: 'Audit reads',
  allow: 'reader',
  params: { id: PROJECT_ID },
  problems: ['overloaded'],
} as const;

/** The reads over the recorded decisions and token usage. */
export function recordEndpoints(deps: ReadDeps) {
  const reads = createReads(deps);
  // All bounds of an answer come from this one instant.
  const scopeOf = ({ params, query, signal }: ScopedCall): ReadScope => ({
    projectId: params.id,
    window: readWindow(query.window, deps.now()),
    signal,
  });
  return [
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/summary',
      id: 'readSummary',
      summary: 'Count decisions',
      description:
        'Totals by outcome, and the same by agent, role and tool. Each list holds the 1,000 largest entries; with its `others` it adds up to the totals.',
      query: Type.Object(WINDOW_QUERY),
      answers: { 200: { description: 'The counts', schema: SUMMARY } },
      handle: (call) => readSummary(reads, scopeOf(call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/timeseries',
      id: 'readTimeseries',
      summary: 'Count decisions over time',
      description: 'Counts by outcome in buckets without gaps, oldest first.',
      query: Type.Object(WINDOW_QUERY),
      answers: { 200: { description: 'The buckets', schema: TIMESERIES } },
      handle: (call) => readTimeseries(reads, scopeOf(call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-usage',
      id: 'readLlmUsage',
      summary: 'Sum up token usage and cost',
      description: 'Calls, tokens and cost, and the same by model and by agent.',
      query: Type.Object(WINDOW_QUERY),
      answers: { 200: { description: 'The sums', schema: LLM_USAGE } },
      handle: (call) => readLlmUsage(reads, scopeOf(call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions',
      id: 'listDecisions',
      summary: 'List decisions',
      description: 'Records, newest first, filtered and page by page.',
      query: Type.Object({ ...WINDOW_QUERY, ...PAGE, ...FILTERS }),
      answers: { 200: { description: 'One page', schema: DECISIONS } },
      handle: async (call) => {
        const { limit, offset, cursor } = call.query;
        const page = { limit, offset, cursor: cursor === undefined ? undefined : parseCursor(cursor) };
        const asked = { ...page, filters: filtersFrom(call.query) };
        // Sent as text: the numbers of hint and arguments keep all their digits.
        call.res.type('json').send(await readDecisions(reads, scopeOf(call), asked));
        return undefined;
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions/export',
      id: 'exportDecisions',
      summary: 'Export decisions',
      description: 'All matching records as a stream, newest first: NDJSON, or CSV (RFC 4180) with a header.',
      query: Type.Object({
        ...WINDOW_QUERY,
        format: oneOf(EXPORT_FORMAT_NAMES, { default: 'ndjson' }),
        ...FILTERS,
      }),
      answers: {
        200: {
          description: 'All records',
          mediaTypes: Object.values(EXPORT_FORMATS).map(({ type }) => type.replace(/;.*/, '')),
        },
      },
      handle: async (call) => {
        const { req, res, query } = call;
        const scope = scopeOf(call);
        const chunks = exportBytes(reads, scope, { filters: filtersFrom(query), format: query.format });
        // An error before the first record is a problem as usual. After it only a broken connection can tell.
        const first = await chunks.next();
        describeExport(res, query.format, scope);
        if (req.method === 'HEAD') res.end();
        else
          await pipeline(Readable.from(chain(first, chunks), { objectMode: false, highWaterMark: 0 }), res);
        return undefined;
      },
    }),
  ];
}

type ScopedCall = { params: { id: string }; query: { window: WindowName }; readonly signal: AbortSignal };

function filtersFrom({
  agent,
  role,
  outcome,
  tool,
  user_id,
  session_id,
}: Partial<DecisionFilters>): DecisionFilters {
  return {
    agent: agent ?? null,
    role: role ?? null,
    outcome: outcome ?? null,
    tool: tool ?? null,
    user_id: user_id ?? null,
    session_id: session_id ?? null,
  };
}

function describeExport(res: Response, format: ExportFormat, { window }: ReadScope): void {
  const until = new Date(window.toMs).toISOString().slice(0, 19).replaceAll(':', '');
  res.setHeader('Content-Type', EXPORT_FORMATS[format].type);
  res.setHeader('Content-Disposition', `attachment; filename="decisions-${window.name}-${until}Z.${format}"`);
  res.setHeader('Cache-Control', 'no-store');
}

async function* chain(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>) {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
