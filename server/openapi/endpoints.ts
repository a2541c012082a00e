import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Request, Response } from 'express';
import { RequestError } from '../errors.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { type Encoding, pageHeaders, sendFile, type StaticFile } from '../http/static-file.ts';
import { sha256Hex } from '../sha256.ts';
import { openapiDocument } from './document.ts';
import { referencePage } from './reference-page.ts';
import { Type } from '../type.ts';

const OWN = fileURLToPath(new URL('./page/', import.meta.url));
const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
/** Compresses 1.5 MB in 50 ms, to 30 % of it. */
const BROTLI_QUALITY = 5;

/** The files that the page needs, and where they are. No other files of the package are served. */
const FOLDERS: Record<string, string> = {
  'start.js': OWN,
  'page.css': OWN,
  'swagger-ui.css': PACKAGE,
  'swagger-ui-bundle.js': PACKAGE,
};
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css' };

/** Swagger UI sets styles from script and draws with data: images. Everything else comes from this service. */
const secureHeaders = pageHeaders({ styleSrc: ["'self'", "'unsafe-inline'"] });

const NOT_MODIFIED = { description: 'The caller holds this version' };

const PUBLIC = { method: 'GET', tag: 'Operations', allow: 'anyone' } as const;

/** The OpenAPI document of the other endpoints and of these, and a page to read it. */
export function openapiEndpoints(others: readonly Endpoint[]) {
  // Built at the first request: it takes a twentieth of a start, and most processes never show it.
  const describe = (): ReturnType<typeof openapiDocument> => openapiDocument([...others, ...own]);
  const own = [
    endpoint({
      ...PUBLIC,
      path: '/openapi.json',
      id: 'openapi',
      summary: 'Get this description',
      description: 'This document: OpenAPI 3.1, as JSON.',
      answers: {
        200: { description: 'The document', schema: Type.Record(Type.String(), Type.Unknown()) },
        304: NOT_MODIFIED,
      },
      handle: ({ req, res }) =>
        sendDocs(req, res, 'openapi.json', {
          type: 'application/json',
          cacheControl: 'no-cache',
          read: () => Buffer.from(JSON.stringify(describe())),
        }),
    }),
    endpoint({
      ...PUBLIC,
      path: '/docs',
      id: 'docs',
      summary: 'Read this description',
      description: 'This document as a page for browsers.',
      answers: { 200: { description: 'The page', mediaTypes: ['text/html'] }, 304: NOT_MODIFIED },
      handle: ({ req, res }) =>
        sendDocs(req, res, '', {
          type: 'text/html',
          cacheControl: 'no-cache',
          read: () => Buffer.from(referencePage(describe())),
        }),
    }),
    endpoint({
      ...PUBLIC,
      path: '/docs/{file}',
      id: 'docsFile',
      summary: 'Get a file of that page',
      description: 'The scripts, styles and images of the page at /docs.',
      params: { file: Type.String({ description: 'The name of the file' }) },
      answers: { 200: { description: 'The file', mediaTypes: Object.values(TYPES) }, 304: NOT_MODIFIED },
      problems: ['not_found'],
      handle: ({ req, res, params: { file } }) => sendDocs(req, res, file, contentOf(file)),
    }),
  ];
  return own;
}

type Content = { type: string; cacheControl: string; read: () => Buffer };

/** Files by their names, and the page. Each is read and compressed once, at its first request: most processes never show them. */
const files = new Map<string, Promise<StaticFile>>();

async function sendDocs(req: Request, res: Response, name: string, content: Content): Promise<undefined> {
  let file = files.get(name);
  if (file === undefined) {
    file = compressed(content);
    files.set(name, file);
    file.catch(() => files.delete(name));
  }
  await promisify(secureHeaders)(req, res);
  sendFile(req, res, await file);
}

async function compressed({ type, cacheControl, read }: Content): Promise<StaticFile> {
  const identity = read();
  const quality = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  // Browsers accept Brotli over https only.
  const bodies = new Map<Encoding, Buffer>([
    ['br', await promisify(brotliCompress)(identity, { params: quality })],
    ['gzip', await promisify(gzip)(identity)],
    ['identity', identity],
  ]);
  return { type: `${type}; charset=utf-8`, cacheControl, etag: `"${sha256Hex(identity)}"`, bodies };
}

function contentOf(name: string): Content {
  const folder = Object.hasOwn(FOLDERS, name) ? FOLDERS[name] : undefined;
  const type = TYPES[extname(name)];
  if (folder === undefined || type === undefined)
    throw new RequestError('not_found', 'There is no such file');
  return { type, cacheControl: 'public, max-age=86400', read: () => readFileSync(join(folder, name)) };
}
