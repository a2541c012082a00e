import type { Router } from 'express';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import helmet from 'helmet';
import { RequestError } from '../errors.ts';
import { createRouter, mount } from '../http/routes.ts';
import { openapiDocument } from './document.ts';

const PACKAGE = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** The files of Swagger UI that the page needs; nothing else of the package is served. */
const ASSETS: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Gatehouse API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="reference"><noscript>The reference needs JavaScript. The document itself is at /openapi.json.</noscript></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const START = `window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
});
`;

/** Everything from here; Swagger UI sets styles from script and draws with data: images. */
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

/** GET /openapi.json, and /docs, the same to read. */
export function openapiRoutes(): Router {
  const router = createRouter();
  const document = JSON.stringify(openapiDocument());
  router.use('/docs', secureHeaders);
  mount(router, '/openapi.json', {
    get: (_req, res) => void res.set('Cache-Control', 'no-cache').type('json').send(document),
  });
  mount(router, '/docs', {
    get: (_req, res) => void res.set('Cache-Control', 'no-cache').type('html').send(PAGE),
  });
  const files = new Map<string, { type: string; bytes: Buffer }>([
    ['start.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START) }],
  ]);
  mount(router, '/docs/:file', {
    get: (req, res) => {
      const name = String(req.params['file']);
      const file = files.get(name) ?? readAsset(name);
      files.set(name, file);
      res.set({ 'Content-Type': file.type, 'Cache-Control': 'public, max-age=86400' }).send(file.bytes);
    },
  });
  return router;
}

/** Read when it is first asked for: most processes never show the page. */
function readAsset(name: string): { type: string; bytes: Buffer } {
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (type === undefined) throw new RequestError('not_found', 'There is no such file');
  return { type, bytes: readFileSync(join(PACKAGE, name)) };
}
