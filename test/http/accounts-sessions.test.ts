import { expect } from 'chai';
import { call, cookieOf, logIn, mailedToken, newPerson, type Person, useToken } from '../support/accounts.ts';
import { createServiceClock } from '../support/clock.ts';
import { startTestService, type TestService, useTestService } from '../support/service.ts';
import { HOUR_MS } from '../../server/durations.ts';
import { issue, ingest, revoke } from '../support/keys.ts';

const statusOf = async (service: TestService, cookie: string) =>
  (await call(service, '/v1/auth/me', { cookie })).status;

describe('a session', () => {
  const clock = createServiceClock();
  const service = useTestService({ env: clock.env });

  it('ends after 12 hours without use', async () => {
    const { cookie } = await newPerson(service);

    clock.passMs(12 * HOUR_MS - 60_000);
    const before = await statusOf(service, cookie);
    clock.passMs(12 * HOUR_MS + 60_000);

    expect([before, await statusOf(service, cookie)]).to.deep.equal([200, 401]);
  });

  it('ends 7 days after the login even if it is used', async () => {
    const { cookie } = await newPerson(service);
    const statuses: number[] = [];

    for (let hours = 0; hours < 7 * 24; hours += 8) {
      statuses.push(await statusOf(service, cookie));
      clock.passMs(8 * HOUR_MS);
    }

    expect(statuses).to.deep.equal(Array(21).fill(200));
    expect(await statusOf(service, cookie)).to.equal(401);
  });

  it('ends on every device with a password reset, and the old password stops working', async () => {
    const { email, cookie } = await newPerson(service);
    const other = cookieOf(await logIn(service, email));

    const reset = await useToken(
      service,
      'reset',
      await mailedToken(service, 'reset', email),
      'a brand new password',
    );

    expect(reset.status).to.equal(200);
    expect([await statusOf(service, cookie), await statusOf(service, other)]).to.deep.equal([401, 401]);
    const logins = [await logIn(service, email), await logIn(service, email, 'a brand new password')];
    expect(logins.map(({ status }) => status)).to.deep.equal([401, 200]);
  });

  it('survives a restart, as a key does; an ended session and a revoked key do not', async () => {
    const first = await startTestService();
    const person = await newPerson(first);
    const ended = cookieOf(await logIn(first, person.email));
    await call(first, '/v1/auth/logout', { method: 'POST', cookie: ended });
    const [kept, revoked] = [await issue(first, person), await issue(first, person)];
    await revoke(first, person, revoked.key_id);
    await first.kill();

    const second = await startTestService({ dataDir: first.dataDir });
    const sessions = [await statusOf(second, person.cookie), await statusOf(second, ended)];
    const keys = [await ingest(second, kept.key), await ingest(second, revoked.key)];
    await second.stop();

    expect([sessions, keys]).to.deep.equal([
      [200, 401],
      [202, 401],
    ]);
  });
});

describe('the session cookie with GATE_DASHBOARD_URL=https://gate.example.com', () => {
  const service = useTestService({ env: { GATE_DASHBOARD_URL: 'https://gate.example.com' } });
  let person: Person;
  before(async () => {
    person = await newPerson(service);
  });

  it('is Secure', async () => {
    const response = await logIn(service, person.email);

    expect(response.headers.getSetCookie()[0]).to.match(/; HttpOnly; Secure; SameSite=Lax$/);
  });

  const origins: [string, boolean][] = [
    ['https://gate.example.com', true],
    ['https://GATE.example.com:443', true],
    ['http://gate.example.com', false],
    ['https://gate.example.com.evil.example', false],
    ['https://evil.example', false],
    ['null', false],
    ['file://', false],
    ['nonsense', false],
  ];
  for (const [origin, isAllowed] of origins) {
    it(`${isAllowed ? 'may' : 'may not'} change anything from ${origin}`, async () => {
      const headers = { Origin: origin };
      const { cookie, project } = person;
      const calls = [
        await call(service, `/v1/projects/${project.id}/keys`, { cookie, headers, body: {} }),
        await call(service, `/v1/projects/${project.id}/keys/none`, { method: 'DELETE', cookie, headers }),
        await call(service, '/v1/projects', { cookie, headers, body: { name: `From ${origin}` } }),
        await call(service, '/v1/auth/request-verify-token', {
          cookie,
          headers,
          body: { email: person.email },
        }),
      ];

      expect(calls.map(({ status }) => status)).to.deep.equal(
        isAllowed ? [201, 404, 201, 202] : Array(4).fill(403),
      );
    });
  }

  it('may change data from the address of the service itself', async () => {
    const { cookie } = person;
    const headers = { Origin: service.url };

    const response = await call(service, '/v1/projects', { cookie, headers, body: { name: 'Own host' } });

    expect(response.status).to.equal(201);
  });

  it('may read from any origin, and a request without it needs no Origin', async () => {
    const headers = { Origin: 'https://evil.example' };

    const me = await call(service, '/v1/auth/me', { cookie: person.cookie, headers });
    const login = await call(service, '/v1/auth/login', {
      headers,
      body: { email: person.email, password: 'correct horse battery' },
    });

    expect([me.status, login.status]).to.deep.equal([200, 200]);
    expect(me.headers.get('Access-Control-Allow-Origin')).to.equal(null);
  });
});
