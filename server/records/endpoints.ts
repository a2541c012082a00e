import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import { Type } from 'typebox';
import type { Actor } from '../access/access.ts';
import type { ReadKind, RecordReads } from '../activity/record-reads.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { addressOf } from '../http/rate-limit.ts';
import { oneOf, PROJECT_ID } from '../http/schemas.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';

import { DECISION, DECISIONS, LLM_USAGE, SUMMARY, TIMESERIES } from './answers.ts';
import { readSummary, readTimeseries, type ReadScope } from './counts.ts';
import { parseCursor } from './cursor.ts';
import { createReads, type RunRead, type RunReadBytes, type Writers } from './days.ts';
import { type DecisionFilters, readDecisions } from './decisions.ts';
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, exportBytes, type ExportFormat } from './export-decisions.ts';
import { findDecision } from './find-decision.ts';
import { readLlmUsage } from './llm-usage.ts';
import { ExportSlots } from './export-slots.ts';
import { recordText } from './record.ts';
import { readWindow, WINDOW_NAMES, type WindowName } from './window.ts';

export type ReadDeps = {
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  writers: Writers;
  now: () => number;
  recordReads: RecordReads;
};

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
  allow: { role: 'viewer', scope: 'read_audit', open: 'anonymous' },
  params: { id: PROJECT_ID },
  problems: ['overloaded'],
} as const;

/** The reads over the recorded decisions and token usage. */
export function recordEndpoints(deps: ReadDeps) {
  const reads = createReads(deps);
  const slots = new ExportSlots();
  // All bounds of an answer come from this one instant.
  const scopeOf = ({ params, query, signal }: ScopedCall): ReadScope => ({
    projectId: params.id,
    window: readWindow(query.window, deps.now()),
    signal,
  });
  const startRead = async (kind: ReadKind, call: ScopedCall) => {
    await deps.recordReads.read(kind, readFrom(call));
    return scopeOf(call);
  };
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
      handle: async (call) => readSummary(reads, await startRead('summary', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/timeseries',
      id: 'readTimeseries',
      summary: 'Count decisions over time',
      description: 'Counts by outcome in buckets without gaps, oldest first.',
      query: Type.Object(WINDOW_QUERY),
      answers: { 200: { description: 'The buckets', schema: TIMESERIES } },
      handle: async (call) => readTimeseries(reads, await startRead('timeseries', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-usage',
      id: 'readLlmUsage',
      summary: 'Sum up token usage and cost',
      description: 'Calls, tokens and cost, and the same by model and by agent.',
      query: Type.Object(WINDOW_QUERY),
      answers: { 200: { description: 'The sums', schema: LLM_USAGE } },
      handle: async (call) => readLlmUsage(reads, await startRead('llm_usage', call)),
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
        call.res.type('json').send(await readDecisions(reads, await startRead('decisions', call), asked));
        return undefined;
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions/export',
      allow: { ...READ.allow, open: 'named' },
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
        await slots.run(call.params.id, async () => {
          const { req, res, query } = call;
          const { format, window } = query;
          await deps.recordReads.exported({ format, window }, readFrom(call));
          const scope = scopeOf(call);
          const pages = exportBytes(reads, scope, { filters: filtersFrom(query), format: query.format });
          // An error before the first record is a problem as usual. After it only a broken connection can tell.
          const first = await pages.next();
          describeExport(res, query.format, scope);
          // Those of pipeline, beside those of the edge.
          res.setMaxListeners(LISTENERS_MAX);
          if (req.method === 'HEAD') res.end();
          else
            await pipeline(Readable.from(chain(first, pages), { objectMode: false, highWaterMark: 0 }), res);
        });
        return undefined;
      },
    }),
    // Behind the export, whose path it matches.
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions/{event_id}',
      id: 'readDecision',
      summary: 'Read a decision',
      description: 'One record by its id, however old. 404 also for a text that is no UUID.',
      params: { ...READ.params, event_id: Type.String({ description: 'The `event_id`, in any case' }) },
      answers: { 200: { description: 'The record', schema: DECISION } },
      problems: [...READ.problems, 'not_found'],
      handle: async (call) => {
        await deps.recordReads.read('decisions', readFrom(call));
        const { id: projectId, event_id: eventId } = call.params;
        const wanted = { projectId, eventId, nowMs: deps.now(), signal: call.signal };
        const row = await findDecision(reads, wanted);
        if (row === undefined) throw new RequestError('not_found', 'There is no record with this event_id');
        // Sent as text: the numbers of hint and arguments keep all their digits.
        call.res.type('json').send(recordText(row));
        return undefined;
      },
    }),
  ];
}

type ReadCall = { req: Request; caller: { actor: Actor }; params: { id: string } };
const LISTENERS_MAX = 20;

type ScopedCall = ReadCall & { query: { window: WindowName }; readonly signal: AbortSignal };

function readFrom({ req, caller, params }: ReadCall) {
  return { projectId: params.id, actor: caller.actor, address: addressOf(req) };
}

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
}

async function* chain(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>) {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
