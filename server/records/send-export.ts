import type { Request, Response } from 'express';
import { sendPages } from '../http/send-pages.ts';
import type { ReadScope } from './counts.ts';
import { EXPORT_FORMATS, type ExportFormat } from './export-decisions.ts';

type Export = { scope: ReadScope; format: ExportFormat | 'proofs'; pages: AsyncGenerator<Buffer> };

export function sendExportPages(
  call: { req: Request; res: Response },
  { scope, format, pages }: Export,
): Promise<void> {
  return sendPages(call, { pages, describe: () => describe(call.res, format, scope) });
}

function describe(res: Response, format: Export['format'], { window }: ReadScope): void {
  const [what, type] = format === 'proofs' ? ['proofs', 'ndjson' as const] : ['decisions', format];
  const [from, to] = [window.fromMs, window.toMs].map(
    (ms) => `${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '')}Z`,
  );
  res.setHeader('Content-Type', EXPORT_FORMATS[type].type);
  res.setHeader('Content-Disposition', `attachment; filename="${what}-${window.name ?? from}-${to}.${type}"`);
}
