import { expect } from 'chai';
import { call, cookieOf, logIn, mailedToken, newPerson, type Person, useToken } from '../support/accounts.ts';
import { createServiceClock } from '../support/clock.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { HOUR_MS } from '../../server/durations.ts';

const statusOf = async (service: TestService, cookie: string) =>
  (await call(service, '/v1/auth/me', { cookie })).status;

describe('a session', () => {
  const clock = createServiceClock();
  let service: TestService;
  before(async () => (service = await startTestService({ env: clock.env })));
  after(() => service.stop());

  it('ends when it is not used for 12 hours', async () => {
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

  it('survives a restart, and an ended session stays ended', async () => {
    const first = await startTestService();
    const { email, cookie } = await newPerson(first);
    const ended = cookieOf(await logIn(first, email));
    await call(first, '/v1/auth/logout', { method: 'POST', cookie: ended });
    await first.kill();

    const second = await startTestService({ dataDir: first.dataDir });
    const statuses = [await statusOf(second, cookie), await statusOf(second, ended)];
    await second.stop();

    expect(statuses).to.deep.equal([200, 401]);
  });
});

describe('the session cookie with GATE_DASHBOARD_URL=https://gate.example.com', () => {
  let service: TestService;
  let person: Person;
  before(async () => {
    service = await startTestService({ env: { GATE_DASHBOARD_URL: 'https://gate.example.com' } });
    person = await newPerson(service);
  });
  after(() => service.stop());

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
