import type { Request, Response } from 'express';
import helmet from 'helmet';
import { etagMatches } from './etag.ts';

export type Encoding = 'br' | 'gzip' | 'identity';
const SMALLEST_FIRST = ['br', 'gzip'] as const;
/** A file in memory, with its compressed forms. */
export type StaticFile = { type: string; cacheControl: string; etag: string; bodies: Map<Encoding, Buffer> };

/** The headers of pages that load nothing from elsewhere, with these directives of the Content-Security-Policy. */
export function pageHeaders({ styleSrc, ...more }: { styleSrc: string[] } & Record<string, string[]>) {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc,
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        ...more,
      },
    },
    frameguard: { action: 'deny' },
    // The policy must not affect other services of the same domain.
    strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
  });
}

/** Sends the smallest form that the caller accepts, or 304. */
export function sendFile(
  req: Request,
  res: Response,
  { type, cacheControl, etag, bodies }: StaticFile,
): void {
  res.set({ 'Cache-Control': cacheControl, ETag: etag, Vary: 'Accept-Encoding' });
  const condition = req.headers['if-none-match'];
  if (condition !== undefined && etagMatches(condition, etag)) {
    res.status(304).end();
    return;
  }
  // In our order of preference: in the header, every browser names gzip first.
  const chosen = SMALLEST_FIRST.find((each) => bodies.has(each) && req.acceptsEncodings(each)) ?? 'identity';
  const body = bodies.get(chosen) ?? bodies.get('identity') ?? Buffer.alloc(0);
  if (chosen !== 'identity') res.set('Content-Encoding', chosen);
  res.set({ 'Content-Type': type, 'Content-Length': String(body.length) });
  res.end(req.method === 'HEAD' ? undefined : body);
}
