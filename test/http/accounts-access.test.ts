import { expect } from 'chai';
import { call, jsonOf, newPerson, type Person } from '../support/accounts.ts';
import { ingest, issue, type Key, keysPath } from '../support/keys.ts';
import { useTestService } from '../support/service.ts';

describe('every route of a project', () => {
  const service = useTestService({ env: { GATE_READ_AUTH: 'required' } });
  let ann: Person;
  let annKey: string;
  let keyOfAnn: Key;
  let credentials: Record<string, { cookie?: string; key?: string }>;
  before(async () => {
    ann = await newPerson(service);
    keyOfAnn = await issue(service, ann);
    annKey = keyOfAnn.key;
    await call(service, '/v1/agents', { key: annKey, body: { name: 'bot', tools: ['search'] } });
    const bob = await newPerson(service);
    const bobKey = (await issue(service, bob)).key;
    const revoked = await issue(service, ann);
    await call(service, `${keysPath(ann)}/${revoked.key_id}`, { method: 'DELETE', cookie: ann.cookie });
    credentials = {
      nothing: {},
      'a session of another account': { cookie: bob.cookie },
      'a key of another project': { key: bobKey },
      'a revoked key of the project': { key: revoked.key },
      'both of another account': { cookie: bob.cookie, key: bobKey },
    };
  });

  it('is closed by GATE_READ_AUTH=required, except for /metrics, about which the service warns', async () => {
    expect((await fetch(`${service.url}/metrics`)).status).to.equal(200);
    expect(service.output()).to.include('GET /metrics is open to everyone');
  });

  const expected: Record<string, number> = {
    nothing: 401,
    'a session of another account': 403,
    'a key of another project': 403,
    'a revoked key of the project': 401,
    'both of another account': 403,
  };
  const routes: [string, string, unknown?][] = [
    ['GET', '/keys'],
    ['POST', '/keys', {}],
    ['DELETE', '/keys/{key}'],
    ['GET', '/members'],
    ['POST', '/members', { email: 'b@example.com' }],
    ['DELETE', '/members/{account}'],
    ['GET', '/activity'],
    ['GET', '/audit/summary'],
    ['GET', '/audit/decisions'],
    ['GET', '/audit/timeseries'],
    ['GET', '/audit/decisions/export'],
    ['GET', '/audit/llm-usage'],
    ['GET', '/audit/llm-invocations'],
    ['GET', '/agents'],
    ['GET', '/agents/bot/versions'],
    ['GET', '/agents/bot/versions/1'],
    ['GET', '/agents/bot/fleet'],
    ['PUT', '/agents/bot', { system_md: 'taken over' }],
    ['POST', '/agents/bot/check', {}],
  ];
  for (const [method, path, body] of routes) {
    it(`${method} ${path} answers 401 or 403 without access, even for an unknown project`, async () => {
      for (const [who, credential] of Object.entries(credentials)) {
        for (const projectId of [ann.project.id, 'f6b2c9a4-0000-4000-8000-000000000000', '%00', '..%2f..']) {
          const filled = path.replace('{key}', keyOfAnn.key_id).replace('{account}', ann.id);
          const response = await call(service, `/v1/projects/${projectId}${filled}`, {
            method,
            body,
            ...credential,
          });
          expect(response.status, `${who} at ${projectId}`).to.equal(expected[who]);
        }
      }
    });
  }

  it('leaves the project unchanged when access is refused', async () => {
    const { cookie } = ann;
    const keys = await jsonOf<{ items: Key[] }>(call(service, keysPath(ann), { cookie }));
    const members = await jsonOf<{ items: unknown[] }>(
      call(service, `/v1/projects/${ann.project.id}/members`, { cookie }),
    );
    const agents = await jsonOf<{ items: { version: number }[] }>(
      call(service, `/v1/projects/${ann.project.id}/agents`, { cookie }),
    );

    expect([keys.items.length, members.items.length, agents.items[0]?.version]).to.deep.equal([2, 1, 1]);
    expect(await ingest(service, annKey)).to.equal(202);
  });

  it('answers the owner by session, and by key where a key is enough', async () => {
    const bySession = await call(service, `/v1/projects/${ann.project.id}/agents`, { cookie: ann.cookie });
    const byKey = await call(service, `/v1/projects/${ann.project.id}/agents`, { key: annKey });
    const keysByKey = await call(service, keysPath(ann), { key: annKey });

    expect([bySession.status, byKey.status, keysByKey.status]).to.deep.equal([200, 200, 403]);
  });
});
