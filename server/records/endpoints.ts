import type { Request, Response } from 'express';
import type { Actor } from '../access/access.ts';
import type { ReadKind, RecordReads } from '../activity/record-reads.ts';
import { RequestError } from '../errors.ts';
import { endpoint } from '../http/endpoint.ts';
import { oneOf, PAGE, PROJECT_ID } from '../http/schemas.ts';
import {
  BREAKDOWN_ANSWER,
  COMPLETENESS,
  DECISION,
  DECISIONS,
  GAPS,
  LLM_INVOCATIONS,
  LLM_USAGE,
  LLM_USAGE_BREAKDOWN,
  LLM_USAGE_TIMESERIES,
  SUMMARY,
  TIMESERIES,
} from './answers.ts';
import { readBreakdown } from './breakdown.ts';
import { readCompleteness } from './completeness.ts';
import { readSummary, readTimeseries, type ReadScope } from './counts.ts';
import { parseCursor } from './cursor.ts';
import type { AuditReads } from './days.ts';
import { readDecisions } from './decisions.ts';
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, exportBytes, type ExportFormat } from './export-decisions.ts';
import { exportProofs } from './export-proofs.ts';
import { FILTERS, filtersFrom, INVOCATION_FILTERS, SEARCH, USAGE_FILTERS } from './filters.ts';
import { findDecision } from './find-decision.ts';
import { parseGapCursor, readGaps } from './gaps.ts';
import { readLlmInvocations } from './llm-invocations.ts';
import { readLlmUsage, readLlmUsageBreakdown, readLlmUsageTimeseries } from './llm-usage.ts';
import { ExportSlots } from './export-slots.ts';
import { recordText } from './record.ts';
import { BREAKDOWN, OFFSET_PAGE, RANGE, USAGE_BREAKDOWN } from './parameters.ts';
import type { PageRequest } from './pages.ts';
import { sendExportPages } from './send-export.ts';
import { readRange } from './window.ts';
import { Type } from '../type.ts';

export type ReadDeps = { reads: AuditReads; now: () => number; recordReads: RecordReads };

const READ = {
  method: 'GET',
  tag: 'Audit reads',
  allow: { role: 'viewer', scope: 'read_audit', open: 'anonymous' },
  params: { id: PROJECT_ID },
  problems: ['overloaded'],
} as const;

/** The reads over the recorded decisions and token usage. */
export function recordEndpoints(deps: ReadDeps) {
  const { reads } = deps;
  const slots = new ExportSlots();
  // All bounds of an answer come from this one instant.
  const scopeOf = ({ params, query, signal }: ScopedCall): ReadScope => ({
    projectId: params.id,
    window: readRange(query, deps.now()),
    filters: filtersFrom(query),
    signal,
  });
  const startRead = async (kind: ReadKind, call: ScopedCall) => {
    await deps.recordReads.read(kind, readFrom(call));
    return scopeOf(call);
  };
  const sendExport = async (call: ExportCall, format: ExportFormat | 'proofs') => {
    await slots.run(call.params.id, async () => {
      const scope = scopeOf(call);
      const { window = '24h', from, to } = call.query;
      const range = from === undefined ? { window } : { from, to };
      await deps.recordReads.exported({ format, ...range }, readFrom(call));
      const pages = format === 'proofs' ? exportProofs(reads, scope) : exportBytes(reads, scope, format);
      await sendExportPages(call, { scope, format, pages });
    });
    return undefined;
  };
  return [
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/summary',
      id: 'readSummary',
      summary: 'Count decisions',
      description:
        'Totals by outcome, and the same by agent, role and tool. Each list holds the 1,000 largest entries; with its `others` it adds up to the totals.',
      query: Type.Object({ ...RANGE, ...FILTERS }),
      answers: { 200: { description: 'The counts', schema: SUMMARY } },
      handle: async (call) => readSummary(reads, await startRead('summary', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/timeseries',
      id: 'readTimeseries',
      summary: 'Count decisions over time',
      description: 'Counts by outcome in buckets without gaps, oldest first.',
      query: Type.Object({ ...RANGE, ...FILTERS, ...SEARCH }),
      answers: { 200: { description: 'The buckets', schema: TIMESERIES } },
      handle: async (call) => readTimeseries(reads, await startRead('timeseries', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/breakdown',
      id: 'readBreakdown',
      summary: 'Count decisions by the values of a field',
      description:
        'The values with the most decisions, each with its counts by outcome and the times of its first and last decision. With its `others` the list adds up to the totals.',
      query: Type.Object({ ...BREAKDOWN, ...RANGE, ...FILTERS }),
      answers: { 200: { description: 'The values', schema: BREAKDOWN_ANSWER } },
      handle: async (call) => readBreakdown(reads, await startRead('breakdown', call), call.query),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/completeness',
      id: 'readCompleteness',
      summary: 'Count what did not arrive',
      description:
        'What became of the events that senders numbered, decisions and token usage together: received, dropped by the sender, missing.',
      query: Type.Object(RANGE),
      answers: { 200: { description: 'The counts', schema: COMPLETENESS } },
      handle: async (call) => readCompleteness(reads, await startRead('completeness', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/gaps',
      id: 'listGaps',
      summary: 'List what did not arrive',
      description: "The gaps in the senders' numbers, newest first and page by page.",
      query: Type.Object({ ...RANGE, ...PAGE }),
      answers: { 200: { description: 'One page', schema: GAPS } },
      handle: async (call) => {
        const { limit, cursor } = call.query;
        const page = { limit, cursor: cursor === undefined ? undefined : parseGapCursor(cursor) };
        return readGaps(reads, await startRead('gaps', call), page);
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-usage',
      id: 'readLlmUsage',
      summary: 'Sum up token usage and cost',
      description: 'Calls, tokens and cost, and the same by model and by agent.',
      query: Type.Object({ ...RANGE, ...USAGE_FILTERS }),
      answers: { 200: { description: 'The sums', schema: LLM_USAGE } },
      handle: async (call) => readLlmUsage(reads, await startRead('llm_usage', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-usage/timeseries',
      id: 'readLlmUsageTimeseries',
      summary: 'Sum up token usage and cost over time',
      description: 'Calls, tokens and cost in buckets without gaps, oldest first.',
      query: Type.Object({ ...RANGE, ...USAGE_FILTERS }),
      answers: { 200: { description: 'The buckets', schema: LLM_USAGE_TIMESERIES } },
      handle: async (call) => readLlmUsageTimeseries(reads, await startRead('llm_usage', call)),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-usage/breakdown',
      id: 'readLlmUsageBreakdown',
      summary: 'Sum up token usage and cost by the values of a field',
      description:
        'The values with the highest cost, each with its calls, tokens and cost and the times of its first and last call. With its `others` the list adds up to the totals.',
      query: Type.Object({ ...USAGE_BREAKDOWN, ...RANGE, ...USAGE_FILTERS }),
      answers: { 200: { description: 'The values', schema: LLM_USAGE_BREAKDOWN } },
      handle: async (call) => readLlmUsageBreakdown(reads, await startRead('llm_usage', call), call.query),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/llm-invocations',
      id: 'listLlmInvocations',
      summary: 'List model calls',
      description: 'Records of token usage, newest first, filtered and page by page.',
      query: Type.Object({ ...RANGE, ...OFFSET_PAGE, ...INVOCATION_FILTERS }),
      answers: { 200: { description: 'One page', schema: LLM_INVOCATIONS } },
      handle: async (call) => {
        const page = pageFrom(call.query);
        return readLlmInvocations(reads, await startRead('llm_invocations', call), page);
      },
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions',
      id: 'listDecisions',
      summary: 'List decisions',
      description: 'Records, newest first, filtered and page by page.',
      query: Type.Object({ ...RANGE, ...OFFSET_PAGE, ...FILTERS, ...SEARCH }),
      answers: { 200: { description: 'One page', schema: DECISIONS } },
      handle: async (call) => {
        const page = pageFrom(call.query);
        // Sent as text: the numbers of hint and arguments keep all their digits.
        call.res.type('json').send(await readDecisions(reads, await startRead('decisions', call), page));
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
        ...RANGE,
        format: oneOf(EXPORT_FORMAT_NAMES, { default: 'ndjson' }),
        ...FILTERS,
        ...SEARCH,
      }),
      answers: {
        200: {
          description: 'All records',
          mediaTypes: Object.values(EXPORT_FORMATS).map(({ type }) => type.replace(/;.*/, '')),
        },
      },
      handle: (call) => sendExport(call, call.query.format),
    }),
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions/export/proofs',
      allow: { ...READ.allow, open: 'named' },
      id: 'exportProofs',
      summary: 'Export the places of decisions in the log',
      description:
        'One line for each record of the export with the same parameters, in the same order: `event_id`, `index` in the log (null until the record has entered it) and `salt` (base64). With the export and the log they prove every record.',
      query: Type.Object({ ...RANGE, ...FILTERS, ...SEARCH }),
      answers: { 200: { description: 'All records', mediaTypes: ['application/x-ndjson'] } },
      handle: (call) => sendExport(call, 'proofs'),
    }),
    // After the export, whose path it would match.
    endpoint({
      ...READ,
      path: '/v1/projects/{id}/audit/decisions/{event_id}',
      id: 'readDecision',
      summary: 'Read a decision',
      description: 'One record by its id, until it expires. 404 also for a text that is not a UUID.',
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
      },
    }),
  ];
}

type ReadCall = { caller: { actor: Actor }; params: { id: string }; readonly address: string };

type Query = { window?: string; from?: string; to?: string };
type ScopedCall = ReadCall & { query: Query; readonly signal: AbortSignal };
type ExportCall = ScopedCall & { req: Request; res: Response };

type PageQuery = Omit<PageRequest, 'cursor'> & { cursor?: string };

function pageFrom({ limit, offset, cursor }: PageQuery): PageRequest {
  return { limit, offset, cursor: cursor === undefined ? undefined : parseCursor(cursor) };
}

function readFrom({ caller, params, address }: ReadCall) {
  return { projectId: params.id, actor: caller.actor, address };
}
