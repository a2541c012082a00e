import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';
import type { ReadScope } from './counts.ts';
import { EXPORT_FORMATS, type ExportFormat } from './export-decisions.ts';

const LISTENERS_MAX = 20;

type Export = { scope: ReadScope; format: ExportFormat | 'proofs'; pages: AsyncGenerator<Buffer> };

/** Sends an export page by page. An error before the first record is a problem as usual. */
export async function sendPages(
  { req, res }: { req: Request; res: Response },
  { scope, format, pages }: Export,
): Promise<void> {
  // After the first page only a broken connection can tell of an error.
  const first = await pages.next();
  describe(res, format, scope);
  // Those of pipeline, beside those of the edge.
  res.setMaxListeners(LISTENERS_MAX);
  if (req.method === 'HEAD') res.end();
  else await pipeline(Readable.from(chain(first, pages), { objectMode: false, highWaterMark: 0 }), res);
}

function describe(res: Response, format: Export['format'], { window }: ReadScope): void {
  const [what, type] = format === 'proofs' ? ['proofs', 'ndjson' as const] : ['decisions', format];
  const [from, to] = [window.fromMs, window.toMs].map(
    (ms) => `${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '')}Z`,
  );
  res.setHeader('Content-Type', EXPORT_FORMATS[type].type);
  res.setHeader('Content-Disposition', `attachment; filename="${what}-${window.name ?? from}-${to}.${type}"`);
}

async function* chain(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>) {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
