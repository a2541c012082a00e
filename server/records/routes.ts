import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { type Request, type Response, Router } from 'express';
import { Query } from '../http/query.ts';
import { createRouter, mount } from '../http/routes.ts';
import { abortOnDisconnect } from '../http/abort-on-disconnect.ts';
import { EXPORT_FORMAT_NAMES, EXPORT_FORMATS, type ExportFormat, exportBytes } from './export-decisions.ts';
import { type ReadScope, readSummary, readTimeseries } from './counts.ts';
import { createReads, type RunRead, type RunReadBytes, type Writers } from './days.ts';
import { readDecisions } from './decisions.ts';
import { readLlmUsage } from './llm-usage.ts';
import { FILTER_NAMES, PAGE_NAMES, parseFilters, parsePage } from './query-params.ts';
import { readWindow } from './window.ts';

export type ReadDeps = {
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  writers: Writers;
  /** Rejects unless the caller may read this project. */
  authorizeRead: (req: Request, projectId: string) => Promise<void>;
  now: () => number;
};

/** What a route does once the caller may read and the window is known. */
type Answer = (read: { req: Request; res: Response; query: Query; scope: ReadScope }) => Promise<void>;

/** The read endpoints over the audit records (SPECIFICATION 4.3 to 4.5, CONTRACT 5). */
export function readRoutes(deps: ReadDeps): Router {
  const reads = createReads(deps);
  const router = createRouter();
  const get = (path: string, names: readonly string[], answer: Answer) =>
    mount(router, `/v1/projects/:id/audit/${path}`, { get: scoped(deps, names, answer) });

  get('summary', [], async ({ res, scope }) => void res.json(await readSummary(reads, scope)));
  get('timeseries', [], async ({ res, scope }) => void res.json(await readTimeseries(reads, scope)));
  get('llm-usage', [], async ({ res, scope }) => void res.json(await readLlmUsage(reads, scope)));
  get('decisions', [...PAGE_NAMES, ...FILTER_NAMES], async ({ res, query, scope }) => {
    const asked = { ...parsePage(query), filters: parseFilters(query) };
    res.type('json').send(await readDecisions(reads, scope, asked));
  });
  get('decisions/export', ['format', ...FILTER_NAMES], async ({ req, res, query, scope }) => {
    const format = query.choice('format', EXPORT_FORMAT_NAMES) ?? 'ndjson';
    const chunks = exportBytes(reads, scope, { filters: parseFilters(query), format });
    // What fails before the first record is an error like any other; later only a broken connection tells.
    const first = await chunks.next();
    describeExport(res, format, scope);
    if (req.method === 'HEAD') res.end();
    else await pipeline(Readable.from(chain(first, chunks), { objectMode: false, highWaterMark: 0 }), res);
  });
  return router;
}

/** Who may read, then which window, then the answer. The query of who is gone stops. */
function scoped({ authorizeRead, now }: ReadDeps, names: readonly string[], answer: Answer) {
  return async (req: Request, res: Response) => {
    const projectId = String(req.params['id']);
    await authorizeRead(req, projectId);
    const query = new Query(req, ['window', ...names]);
    // Every edge of this answer comes from this one instant.
    const window = readWindow(query.text('window'), now());
    await abortOnDisconnect(res, (signal) =>
      answer({ req, res, query, scope: { projectId, window, signal } }),
    );
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
