import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { head, openRaw } from '../support/raw-http.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MEMBERS = ['type', 'title', 'status', 'detail', 'code', 'errors'];

type LogLine = { req: { id: string }; res: { statusCode: number } };
type Problem = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  errors?: { message: string }[];
};

describe('HTTP in general', () => {
  const service = useSharedService();

  const get = (path: string, init: RequestInit = {}) => fetch(`${service.url}${path}`, init);
  const decisionsPath = () => `/v1/projects/${service.project_id}/audit/decisions`;

  describe('every error is an RFC 9457 problem', () => {
    const cases: Record<string, { status: number; ask: () => Promise<Response> }> = {
      body_invalid: {
        status: 422,
        ask: () => sendDecision(service, decisionEvent({ outcome: 'x', role: 7 })),
      },
      occurred_at_out_of_range: {
        status: 400,
        ask: () => sendDecision(service, decisionEvent({ occurred_at: timeFromNow(-91 * DAY_MS) })),
      },
      arguments_too_large: {
        status: 413,
        ask: () => sendDecision(service, decisionEvent({ arguments: { a: 'x'.repeat(8200) } })),
      },
      hint_too_large: {
        status: 413,
        ask: () => sendDecision(service, decisionEvent({ hint: { a: 'x'.repeat(4100) } })),
      },
      body_too_large: {
        status: 413,
        ask: () => sendDecision(service, decisionEvent({ more: 'x'.repeat(2 ** 20) })),
      },
      unauthenticated: { status: 401, ask: () => sendDecision(service, decisionEvent(), { key: 'x' }) },
      window_invalid: { status: 422, ask: () => get(`${decisionsPath()}?window=1h`) },
      query_invalid: { status: 422, ask: () => get(`${decisionsPath()}?limit=0`) },
      not_found: { status: 404, ask: () => get('/v1/nothing') },
      method_not_allowed: { status: 405, ask: () => get('/v1/audit/decisions', { method: 'DELETE' }) },
    };
    for (const [code, { status, ask }] of Object.entries(cases)) {
      it(`${status} ${code}`, async () => {
        const response = await ask();

        const problem = (await response.json()) as Problem;
        expect(response.status).to.equal(status);
        expect(response.headers.get('Content-Type')).to.match(/^application\/problem\+json(;|$)/);
        expect(problem).to.include({ type: `urn:gatehouse:problem:${code}`, status, code });
        expect(Object.keys(problem).filter((name) => !MEMBERS.includes(name))).to.deep.equal([]);
        expect(
          [problem.title, problem.detail].every((text) => typeof text === 'string' && text.length > 0),
        ).to.equal(true);
        for (const error of problem.errors ?? []) {
          expect(error.message).to.be.a('string');
          expect(['path', 'message', 'line', 'column']).to.include.members(Object.keys(error));
        }
      });
    }

    it('names the field at fault', async () => {
      const problem = (await (await sendDecision(service, decisionEvent({ role: 7 }))).json()) as Problem;

      expect(JSON.stringify(problem.errors)).to.contain('role');
    });
  });

  describe('X-Request-Id', () => {
    it("is the caller's when it has 1 to 128 visible ASCII characters, on every answer", async () => {
      for (const id of ['a', '~!"#%&\'()*+,-./:;<=>?@[\\]^_`{|}', 'x'.repeat(128)]) {
        const headers = { 'X-Request-Id': id };
        const answers = [
          await sendDecision(service, decisionEvent(), { headers }),
          await sendDecision(service, '{', { headers }),
          await sendDecision(service, decisionEvent(), { headers, key: 'x' }),
          await get('/nothing', { headers }),
          await get('/healthz', { headers }),
        ];
        expect(answers.map((answer) => answer.headers.get('X-Request-Id'))).to.deep.equal(
          answers.map(() => id),
        );
      }
    });

    it('is a new UUID otherwise', async () => {
      const ids = ['x'.repeat(129), 'two words', 'caf\u00e9', '\ttab'.repeat(2), undefined];
      const seen = new Set<string>();
      for (const id of [...ids, ...ids]) {
        const response = await get('/healthz', id === undefined ? {} : { headers: { 'X-Request-Id': id } });
        expect(response.headers.get('X-Request-Id'), id).to.match(UUID);
        seen.add(String(response.headers.get('X-Request-Id')));
      }
      expect(seen.size).to.equal(2 * ids.length);
    });

    /** The two lines of the request log that name this id, once they are there. */
    function linesWith(id: string): LogLine[] | undefined {
      const lines = service
        .output()
        .split('\n')
        .filter((line) => line.startsWith('{') && line.includes(id));
      return lines.length < 2 ? undefined : lines.map((line) => JSON.parse(line) as LogLine);
    }

    it('is logged', async () => {
      const id = `logged-${randomUUID()}`;

      await get('/healthz', { headers: { 'X-Request-Id': id } });
      await sendDecision(service, '{', { headers: { 'X-Request-Id': `${id}-bad` } });

      const lines = await eventually(() => linesWith(id));
      expect(lines.map(({ req, res }) => [req.id, res.statusCode])).to.deep.equal([
        [id, 200],
        [`${id}-bad`, 422],
      ]);
    });
  });

  it('an unknown path is 404, with any method', async () => {
    for (const path of [
      '/v1',
      '/v1/audit',
      '/v1/audit/decisions/x',
      '/v2/audit/decisions',
      '/v1/projects//audit/summary',
      '/V1/audit/decisions',
      '/v1/audit/Decisions',
      '/v1/audit/decisions/',
      '/HEALTHZ',
      '/healthz/',
      '/openapi.json/',
      '/v1/.Well-Known/keys',
      '/v1/auth/me/',
      '/%00',
      '/%ff',
      '/%',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status } = await get(path, { method });
        expect(status, `${method} ${path}`).to.equal(404);
      }
    }
  });

  it('a wrong method is 405 with Allow', async () => {
    const allowed: Record<string, string[]> = {
      '/v1/audit/decisions': ['POST'],
      '/v1/audit/llm-invocations': ['POST'],
      [decisionsPath()]: ['GET', 'HEAD'],
      [`/v1/projects/${randomUUID()}/audit/summary`]: ['GET', 'HEAD'],
      '/v1/.well-known/keys': ['GET', 'HEAD'],
      '/healthz': ['GET', 'HEAD'],
      '/readyz': ['GET', 'HEAD'],
      '/metrics': ['GET', 'HEAD'],
    };
    for (const [path, methods] of Object.entries(allowed)) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (name) => !methods.includes(name),
      )) {
        const response = await get(path, { method });

        expect(response.status, `${method} ${path}`).to.equal(405);
        expect(response.headers.get('Allow')?.split(', ').sort(), path).to.deep.equal(methods);
      }
    }
  });

  it('If-None-Match: * changes no answer without an ETag', async () => {
    for (const path of ['/healthz', '/metrics', '/v1/.well-known/keys', '/v1/projects/x/audit/summary']) {
      const response = await fetch(service.url + path, { headers: { 'If-None-Match': '*' } });
      expect([response.status, response.headers.get('ETag')], path).to.deep.equal([200, null]);
      expect(await response.text(), path).not.to.equal('');
    }
  });

  it('HEAD answers as GET does, without the body', async () => {
    for (const path of ['/healthz', decisionsPath(), '/v1/.well-known/keys']) {
      const response = await get(path, { method: 'HEAD' });

      expect([response.status, await response.text()]).to.deep.equal([200, '']);
    }
  });

  it('has no header that names the software', async () => {
    expect((await get('/healthz')).headers.get('X-Powered-By')).to.equal(null);
  });

  it('answers several requests in one packet in order', async () => {
    const one = head('/healthz', { 'X-Request-Id': 'first' }, 'GET');
    const two = head('/nothing', { 'X-Request-Id': 'second', Connection: 'close' }, 'GET');

    const connection = await openRaw(service.url);
    await connection.write(one + two);
    const answers = [await connection.answer(), await connection.answer()];
    connection.close();

    expect(answers.map(({ status, headers }) => [status, headers['x-request-id']])).to.deep.equal([
      [200, 'first'],
      [404, 'second'],
    ]);
  });
});
