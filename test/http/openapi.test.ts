import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { DECLARATIONS } from '../support/declarations.ts';
import {
  createAnswerCheck,
  type Document,
  type Operation,
  type OperationAt,
  operationsOf,
  readDocument,
} from '../support/openapi.ts';
import { proofOf } from '../support/log.ts';
import { head, openRaw } from '../support/raw-http.ts';
import { rssMb } from '../support/rss.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('the OpenAPI document', () => {
  let service: TestService;
  let document: Document;
  let cookie: string;
  let faultOf: ReturnType<typeof createAnswerCheck>;
  before(async () => {
    service = await startTestService();
    document = await readDocument(service.url);
    faultOf = createAnswerCheck(document);
    const login = await send('POST', '/v1/auth/login', { body: service.demo.dashboard });
    cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  });
  after(() => service.stop());

  type Options = { body?: unknown; headers?: Record<string, string> };

  function send(method: string, path: string, { body, headers = {} }: Options = {}): Promise<Response> {
    const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
    return fetch(`${service.url}${path}`, {
      method,
      headers: { ...json, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** The answer must be one of those described: its status, its type, its body, its headers. */
  async function check(at: OperationAt, response: Response): Promise<string> {
    const answer = {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      text: await response.text(),
    };
    const fault = faultOf(at, answer);
    if (fault !== undefined)
      throw new Error(`${at.method} ${at.path} ${answer.status}: ${fault}: ${answer.text.slice(0, 300)}`);
    return answer.text;
  }

  /** A request built from the document: its examples, and the world's values for its parameters. */
  function requestFrom(path: string, operation: Operation, world: Record<string, string>) {
    let url = path;
    const search = new URLSearchParams();
    for (const { name, in: place, example } of operation.parameters ?? []) {
      if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(world[name] ?? name));
      else if (place === 'query' && example !== undefined)
        search.set(name, JSON.stringify(example).replaceAll('"', ''));
    }
    const content = Object.values(operation.requestBody?.content ?? {})[0];
    const filled = (example: object) => ({ ...example, ...bodyOf(operation) });
    const example = content?.example as object | object[] | undefined;
    const body = Array.isArray(example) ? example.map(filled) : example && filled(example);
    return { url: search.size === 0 ? url : `${url}?${search.toString()}`, body };
  }

  /** Values that an example cannot know: the time, and the ids of this run. */
  function bodyOf({ operationId }: Operation): object {
    if (operationId.startsWith('record'))
      return { event_id: randomUUID(), occurred_at: new Date().toISOString() };
    if (operationId === 'register') return { email: `${randomUUID()}@example.com` };
    if (operationId === 'login') return service.demo.dashboard ?? {};
    if (operationId === 'createProject') return { name: randomUUID() };
    return {};
  }

  function credentialsOf({ security = [] }: Operation): Record<string, string> {
    const names = security.flatMap((scheme) => Object.keys(scheme));
    if (names.includes('session')) return { Cookie: cookie };
    return names.includes('bearerKey') ? { Authorization: `Bearer ${service.key}` } : {};
  }

  it('is valid OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));

    expect(document.openapi).to.match(/^3\.1\./);
    expect({ valid, errors }).to.deep.equal({ valid: true, errors: undefined });
  });

  it('describes every endpoint, and each path refuses all other methods', async () => {
    const described = operationsOf(document).map(({ path, method }) => `${method} ${path}`);

    expect(described.sort()).to.deep.equal(
      DECLARATIONS.map(({ method, path }) => `${method} ${path}`).sort(),
    );
    for (const [path, item] of Object.entries(document.paths)) {
      const response = await send('PATCH', path.replaceAll(/\{(\w+)\}/g, 'x'));
      const allowed = (response.headers.get('allow') ?? '').split(', ').filter((name) => name !== 'HEAD');
      expect([path, response.status, allowed]).to.deep.equal([
        path,
        405,
        Object.keys(item).map((method) => method.toUpperCase()),
      ]);
    }
  });

  it('turned into requests, one per operation, gets the answers that it describes', async () => {
    const ids = {
      id: service.project_id,
      name: 'support-bot',
      version: '1',
      account_id: randomUUID(),
      file: 'start.js',
      tile: '0/000.p/1',
    };
    const world: Record<string, string> = { ...ids, key_id: randomUUID(), emitter: randomUUID() };
    const statuses: Record<string, number> = {};
    // Logging out comes last, because everything else needs the session. Calls that create something come before those that show it.
    const rank = ({ operationId }: Operation) =>
      operationId === 'logout' ? 2 : /^(record|register|issue|create)/.test(operationId) ? 0 : 1;
    const all = operationsOf(document).sort((a, b) => rank(a.operation) - rank(b.operation));
    for (const { path, method, operation } of all) {
      const { url, body } = requestFrom(path, operation, world);
      const response = await send(method, url, { body, headers: credentialsOf(operation) });
      const text = await check({ path, method, operation }, response);
      statuses[operation.operationId] = response.status;
      if (operation.operationId === 'issueKey')
        world['key_id'] = (JSON.parse(text) as { key_id: string }).key_id;
      if (operation.operationId === 'recordDecision')
        await proofOf(service, (world['event_id'] = (JSON.parse(text) as { event_id: string }).event_id));
    }

    const bad = Object.entries(statuses).filter(([, status]) => status >= 400);
    expect(Object.fromEntries(bad)).to.deep.equal({
      changePassword: 403,
      endSession: 404,
      finishSingleSignOn: 404,
      startSingleSignOn: 404,
      addMember: 404,
      changeRole: 404,
      removeMember: 404,
      verify: 400,
      resetPassword: 400,
    });
    expect(Object.keys(statuses).length).to.equal(all.length);
  });

  it('states the answers to a missing credential, a wrong body and wrong parameters', async () => {
    const world = { id: randomUUID(), name: 'nobody', version: '0', key_id: 'x', account_id: 'x' };
    for (const { path, method, operation } of operationsOf(document)) {
      const { url, body } = requestFrom(path, operation, world);
      const wrong: Options[] = [{ body }, { body, headers: credentialsOf(operation) }];
      if (body !== undefined) wrong.push({ body: [], headers: credentialsOf(operation) });
      const urls =
        path.includes('/audit/') && method === 'GET' ? [url, `${url}&window=1h`, `${url}&limit=0`] : [url];
      for (const target of urls) {
        for (const options of wrong) {
          const response = await send(method, target, options);
          await check({ path, method, operation }, response);
        }
      }
    }
  });

  it('compresses each file of its page once, however many requests for it are in progress', async () => {
    const connections = await Promise.all(Array.from({ length: 200 }, () => openRaw(service.url)));
    const beforeMb = rssMb(service.pid);

    for (const connection of connections)
      await connection.write(head('/docs/swagger-ui-bundle.js', { 'If-None-Match': '*' }, 'GET'));
    for (const connection of connections) {
      expect((await connection.answer()).status).to.equal(304);
      connection.close();
    }

    expect(rssMb(service.pid) - beforeMb).to.be.below(100);
  });

  it('is built from the validation schemas, with their bounds and enumerations', () => {
    const { content } = document.paths['/v1/audit/decisions']?.['post']?.requestBody ?? { content: {} };
    const properties = content['application/json']?.schema['properties'] as Record<
      string,
      Record<string, unknown>
    >;

    expect(properties['agent_name']).to.include({ minLength: 1, maxLength: 200 });
    expect(properties['outcome']?.['enum']).to.deep.equal(['allow', 'deny', 'needs_approval']);
    expect(JSON.stringify(document)).not.to.match(/"format":"(text|agent-name|tool-name|scope)"/);
  });
});

describe('the reference page', () => {
  const service = useSharedService();

  it('is served with its files from here, and requests nothing from other hosts', async () => {
    const page = await fetch(`${service.url}/docs`);
    const html = await page.text();

    expect(page.headers.get('content-security-policy')).to.include("default-src 'none'");
    const links = Array.from(html.matchAll(/(?:src|href)="([^"]+)"/g), ([, path = '']) => path);
    const files = links.filter((path) => !path.startsWith('#'));
    expect(files).to.have.members(['/favicon.ico', '/docs/page.css', '/docs/start.js', '/', '/openapi.json']);
    for (const path of [...files, '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'])
      expect((await fetch(service.url + path)).status, path).to.equal(200);
    for (const path of [
      'package.json',
      '..%2fpackage.json',
      'index.html',
      '__proto__',
      'swagger-ui-bundle.js.map',
    ])
      expect((await fetch(`${service.url}/docs/${path}`)).status, path).to.equal(404);
  });

  it('shows every operation and schema of the document without a script, and all its links lead somewhere', async () => {
    const html = await (await fetch(`${service.url}/docs`)).text();
    const document = await readDocument(service.url);

    const ids = Array.from(html.matchAll(/ id="([^"]+)"/g), ([, id]) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    const operations = operationsOf(document);
    const schemas = Object.keys(document.components['schemas'] as object);
    expect(ids).to.include.members(operations.map(({ operation }) => operation.operationId));
    expect(ids).to.include.members(schemas.map((name) => `schema-${name}`));
    const trials = operations.map(
      ({ operation: { tags, operationId } }) => `/${encodeURIComponent(tags[0])}/${operationId}`,
    );
    const links = Array.from(html.matchAll(/href="#([^"]+)"/g), ([, id]) => id);
    expect([...ids, ...trials]).to.include.members(links);
    expect(links).to.include.members(trials);
    expect(html).to.include('<code class="name">agent_name</code>').and.to.include('1 to 200 characters');
  });

  it('is sent compressed, and answered with 304 to a caller that has it', async () => {
    for (const path of ['/openapi.json', '/docs', '/docs/start.js', '/docs/swagger-ui-bundle.js']) {
      const plain = await fetch(service.url + path, { headers: { 'Accept-Encoding': 'identity' } });
      const small = await fetch(service.url + path, { headers: { 'Accept-Encoding': 'br' } });
      const etag = small.headers.get('ETag') ?? '';
      const again = await fetch(service.url + path, { headers: { 'If-None-Match': etag } });

      expect(small.headers.get('Content-Encoding')).to.equal('br');
      expect(await small.text()).to.equal(await plain.text());
      expect(Number(small.headers.get('Content-Length'))).to.be.below(
        Number(plain.headers.get('Content-Length')) / 2,
      );
      expect([again.status, await again.text()]).to.deep.equal([304, '']);
    }
  });
});
