import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import express, { type NextFunction, type Request, type Response } from 'express';
import { dashboardRoutes } from '../../../server/dashboard/serve.ts';
import { answerError } from '../../../server/http/error-handler.ts';
import { listen, type Listening } from '../../../server/http/listen.ts';
import { createLogger } from '../../../server/logger.ts';
import { temporaryDirectory } from '../../support/service.ts';

const ROBOTS = new URL('../../../server/dashboard/public/robots.txt', import.meta.url);
const HTML = '<!doctype html><title>Gatehouse</title>';
const SCRIPT = 'console.log("gatehouse")';

describe('the dashboard as it is served', () => {
  let service: Listening;

  before(async () => {
    const dist = temporaryDirectory();
    mkdirSync(join(dist, 'assets'));
    writeFileSync(join(dist, 'index.html'), HTML);
    copyFileSync(ROBOTS, join(dist, 'robots.txt'));
    writeFileSync(join(dist, 'assets/index-abc.js'), SCRIPT);
    writeFileSync(join(dist, 'assets/index-abc.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(dist, 'assets/page-abc.js'), SCRIPT);
    writeFileSync(join(dist, 'assets/page-abc.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(dist, 'assets/page-abc.js.br'), brotliCompressSync(SCRIPT));
    service = await serve(dist);
  });
  after(() => service.stop());

  const get = (path: string, headers: Record<string, string> = {}) => fetch(service.url + path, { headers });

  it('answers every page with the same HTML and strict headers', async () => {
    for (const path of ['/', '/sign-in', '/projects/p/overview', '/projects/p/agents/a%20b?tab=fleet']) {
      const answer = await get(path);
      expect([answer.status, await answer.text()]).to.deep.equal([200, HTML]);
      const policy = answer.headers.get('Content-Security-Policy') ?? '';
      expect(policy)
        .to.include("default-src 'none'")
        .and.to.include("script-src 'self'")
        .and.to.include("frame-ancestors 'none'");
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      expect(answer.headers.get('X-Content-Type-Options')).to.equal('nosniff');
      expect(answer.headers.get('Referrer-Policy')).to.equal('no-referrer');
      expect(answer.headers.get('Cache-Control')).to.equal('no-cache');
    }
  });

  it('keeps mailed links out of caches and indexes, and crawlers away from data', async () => {
    for (const path of ['/verify-email/t', '/reset-password/t']) {
      const { headers } = await get(path);
      expect([headers.get('Cache-Control'), headers.get('X-Robots-Tag')]).to.deep.equal([
        'no-store',
        'noindex',
      ]);
    }
    expect((await get('/sign-in')).headers.get('X-Robots-Tag')).to.equal(null);
    expect(await (await get('/robots.txt')).text()).to.include('Disallow: /v1/');
  });

  it('leaves every other path to later routes', async () => {
    const paths = [
      '/v1/projects/p/audit', '/v1', '/healthz', '/metrics', '/openapi.json', '/docs', '/nothing', '/assets/no.js',
      '/assets/..%2findex.html',
    ]; // prettier-ignore
    for (const path of paths) expect((await get(path)).status, path).to.equal(404);
  });

  it('is only read: another method is 405 with Allow', async () => {
    for (const path of ['/', '/sign-in', '/assets/index-abc.js']) {
      const answer = await fetch(service.url + path, { method: 'POST' });
      expect([answer.status, answer.headers.get('Allow')], path).to.deep.equal([405, 'GET, HEAD']);
    }
  });

  it('serves its files compressed if the browser accepts it, cacheable forever, with 304 if unchanged', async () => {
    const answer = await get('/assets/index-abc.js', { 'Accept-Encoding': 'gzip' });
    const etag = answer.headers.get('ETag') ?? '';
    expect(answer.headers.get('Content-Encoding')).to.equal('gzip');
    expect(answer.headers.get('Cache-Control')).to.include('immutable');
    expect(await answer.text()).to.equal(SCRIPT);
    expect(Number(answer.headers.get('Content-Length'))).to.equal(gzipSync(SCRIPT).length);
    const plain = await get('/assets/index-abc.js', { 'Accept-Encoding': 'identity' });
    expect([plain.headers.get('Content-Encoding'), await plain.text()]).to.deep.equal([null, SCRIPT]);
    expect((await get('/assets/index-abc.js', { 'If-None-Match': etag })).status).to.equal(304);
  });

  it('serves Brotli to browsers, which name gzip first, and gzip to those that refuse it', async () => {
    const encodingFor = async (accepted: string) =>
      (await get('/assets/page-abc.js', { 'Accept-Encoding': accepted })).headers.get('Content-Encoding');

    expect(await encodingFor('gzip, deflate, br, zstd')).to.equal('br');
    expect(await encodingFor('gzip, br;q=0')).to.equal('gzip');
    expect(await encodingFor('identity')).to.equal(null);
  });

  it('names the command to run when it is not built', async () => {
    const bare = await serve(temporaryDirectory());
    const answer = await fetch(bare.url);
    expect([answer.status, await answer.text()]).to.deep.equal([
      503,
      'The dashboard is not built. Run: npm run build:dashboard\n',
    ]);
    await bare.stop();
  });
});

function serve(dist: string): Promise<Listening> {
  const app = express();
  app.use(dashboardRoutes(dist));
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) =>
    answerError(error, { res, logger: createLogger('silent') }),
  );
  return listen(app, { host: '127.0.0.1', port: 0 });
}
