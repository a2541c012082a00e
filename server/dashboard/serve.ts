import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router, type Request, type Response } from 'express';
import { pageFrom } from './src/app/route.ts';
import { sha256Hex } from '../sha256.ts';
import { methodNotAllowed } from '../http/mount.ts';
import { type Encoding, pageHeaders, sendFile, type StaticFile } from '../http/static-file.ts';

const DIST = fileURLToPath(new URL('./dist/', import.meta.url));

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

/** Files with a hash in their name never change. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';
/** The paths of mailed links hold a token, so neither caches nor search engines may keep them. */
const NEVER = 'no-store';

/**
 * Scripts and styles come from this service only, and none is inline. `data:` is for the editor's wavy underlines. Trusted Types: no text
 * can become HTML.
 */
const secureHeaders = pageHeaders({ styleSrc: ["'self'"], requireTrustedTypesFor: ["'script'"] });

/** Programs get problems from these paths; so do browsers. */
const NOT_PAGES = /^\/(v1|assets|docs)(\/|$)/;

/**
 * The dashboard: the HTML of its own pages, its files under /assets, its icon where browsers look for it by default, and robots.txt:
 * crawlers may not request data, so pages are empty for them. A browser also gets the HTML for an unknown page, with 404. Other paths are
 * left to the next route.
 */
export function dashboardRoutes(dist = DIST): Router {
  const files = readFiles(dist);
  const router = Router({ caseSensitive: true, strict: true });
  // Not a route: unmatched paths must not carry this route's label in the metrics.
  router.use((req, res, next) => {
    const file = req.path === '/favicon.ico' ? iconOf(files) : files.get(req.path.slice(1));
    const isPage = pageFrom(req.path) !== undefined;
    const isLost = file === undefined && !isPage && isForPeople(req);
    if (file === undefined && !isPage && !isLost) {
      next();
      return;
    }
    if (isLost) res.status(404);
    if (req.method !== 'GET' && req.method !== 'HEAD') throw methodNotAllowed(req.method, 'GET, HEAD');
    secureHeaders(req, res, (error?: unknown) => {
      if (error !== undefined) next(error);
      else if (file !== undefined) sendFile(req, res, file);
      else sendPage(req, res, files.get('index.html'));
    });
  });
  return router;
}

/** Whether a person opens an unknown address. Programs do not ask for HTML. */
function isForPeople(req: Request): boolean {
  const isRead = req.method === 'GET' || req.method === 'HEAD';
  return isRead && !NOT_PAGES.test(req.path) && req.accepts(['json', 'html']) === 'html';
}

function iconOf(files: Map<string, StaticFile>): StaticFile | undefined {
  const [, icon] = [...files].find(([path]) => path.endsWith('.svg')) ?? [];
  // The name of this file does not change with its content.
  return icon && { ...icon, cacheControl: ASK_AGAIN };
}

/** Reads all files into memory: they are few, so no request reads from the disk. */
function readFiles(dist: string): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  if (!existsSync(dist)) return files;
  for (const entry of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const type = TYPES[extname(entry)];
    if (type === undefined) continue;
    const path = join(dist, entry);
    const identity = readFileSync(path);
    const bodies = new Map<Encoding, Buffer>([['identity', identity]]);
    if (existsSync(`${path}.br`)) bodies.set('br', readFileSync(`${path}.br`));
    if (existsSync(`${path}.gz`)) bodies.set('gzip', readFileSync(`${path}.gz`));
    const cacheControl = entry.startsWith(`assets${sep}`) ? FOREVER : ASK_AGAIN;
    const etag = `"${sha256Hex(identity)}"`;
    files.set(entry.split(sep).join('/'), { type, cacheControl, etag, bodies });
  }
  return files;
}

function sendPage(req: Request, res: Response, page: StaticFile | undefined): void {
  if (page === undefined) {
    res.status(503).type('text/plain').send('The dashboard is not built. Run: npm run build:dashboard\n');
    return;
  }
  const name = pageFrom(req.path)?.name;
  const holdsToken = name === 'verify-email' || name === 'reset-password';
  if (holdsToken) res.set('X-Robots-Tag', 'noindex');
  sendFile(req, res, holdsToken ? { ...page, cacheControl: NEVER } : page);
}
