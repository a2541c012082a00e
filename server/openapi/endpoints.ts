import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { Type } from 'typebox';
import { RequestError } from '../errors.ts';
import { type Endpoint, endpoint } from '../http/endpoint.ts';
import { openapiDocument } from './document.ts';
import { PAGE, START, STYLE } from './reference-page.ts';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The files that the page needs: start.js and page.css, and these of Swagger UI. Nothing else of the package is served. */
const FILE_TYPES: Record<string, string> = {
  'start.js': 'text/javascript',
  'page.css': 'text/css',
  'swagger-ui.css': 'text/css',
  'swagger-ui-bundle.js': 'text/javascript',
};

/** Swagger UI sets styles from script and draws with data: images. Everything else comes from this service. */
const secureHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  frameguard: { action: 'deny' },
  strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
});

const PUBLIC = { method: 'GET', tag: 'Operations', allow: 'anyone' } as const;

/** The OpenAPI document of the other endpoints and of these, and a page to read it. */
export function openapiEndpoints(others: readonly Endpoint[]) {
  const own = [
    endpoint({
      ...PUBLIC,
      path: '/openapi.json',
      id: 'openapi',
      summary: 'Get this description',
      description: 'This document: OpenAPI 3.1, as JSON.',
      answers: { 200: { description: 'The document', schema: Type.Record(Type.String(), Type.Unknown()) } },
      handle: ({ res }) => {
        res.set('Cache-Control', 'no-cache').type('json').send(document);
        return undefined;
      },
    }),
    endpoint({
      ...PUBLIC,
      path: '/docs',
      id: 'docs',
      summary: 'Read this description',
      description: 'This document as a page for people.',
      answers: { 200: { description: 'The page', mediaTypes: ['text/html'] } },
      handle: ({ req, res }) => sendDocs(req, res, { type: 'html', body: PAGE, cacheControl: 'no-cache' }),
    }),
    endpoint({
      ...PUBLIC,
      path: '/docs/{file}',
      id: 'docsFile',
      summary: 'Get a file of that page',
      description: 'The scripts, styles and images of the page at /docs.',
      params: { file: Type.String({ description: 'The name of the file' }) },
      answers: { 200: { description: 'The file', mediaTypes: Object.values(FILE_TYPES) } },
      problems: ['not_found'],
      handle: ({ req, res, params: { file } }) => sendDocs(req, res, readFile(file)),
    }),
  ];
  const document = JSON.stringify(openapiDocument([...others, ...own]));
  return own;
}

type File = { type: string; body: Buffer | string; cacheControl: string };

async function sendDocs(req: Request, res: Response, { type, body, cacheControl }: File): Promise<undefined> {
  await promisify(secureHeaders)(req, res);
  res.set('Cache-Control', cacheControl).type(type).send(body);
}

const OWN_FILES: Record<string, string> = { 'start.js': START, 'page.css': STYLE };
const files = new Map<string, File>();

/** Reads a file when it is first requested: most processes never show the page. */
function readFile(name: string): File {
  const held = files.get(name);
  if (held !== undefined) return held;
  const type = Object.hasOwn(FILE_TYPES, name) ? FILE_TYPES[name] : undefined;
  if (type === undefined) throw new RequestError('not_found', 'There is no such file');
  const body = OWN_FILES[name] ?? readFileSync(join(PACKAGE, name));
  const file = { type, body, cacheControl: 'public, max-age=86400' };
  files.set(name, file);
  return file;
}
