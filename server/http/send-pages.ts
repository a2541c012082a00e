import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Request, Response } from 'express';

const LISTENERS_MAX = 20;

/** Sends an answer page by page. `describe` sets its headers. An error before the first page is a problem as usual. */
export async function sendPages(
  { req, res }: { req: Request; res: Response },
  { pages, describe }: { pages: AsyncGenerator<Buffer | string>; describe: () => void },
): Promise<void> {
  // After the first page, only a broken connection can report an error.
  const first = await pages.next();
  describe();
  // The errors of pipeline, in addition to those of the edge.
  res.setMaxListeners(LISTENERS_MAX);
  if (req.method === 'HEAD') res.end();
  else await pipeline(Readable.from(chain(first, pages), { objectMode: false, highWaterMark: 0 }), res);
}

async function* chain<T>(first: IteratorResult<T>, rest: AsyncGenerator<T>) {
  try {
    if (first.done !== true) yield first.value;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}
