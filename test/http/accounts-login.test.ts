import { expect } from 'chai';
import { call, codeOf, cookieOf, jsonOf, logIn, newEmail, newPerson, register } from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';

const WRONG = 'not the password';

describe('POST /v1/auth/login', () => {
  const service = useSharedService();

  it('answers 200 with an HttpOnly, SameSite=Lax cookie, before the e-mail is verified', async () => {
    const email = newEmail();
    await register(service, email);

    const response = await logIn(service, email);
    const [cookie = ''] = response.headers.getSetCookie();

    expect([response.status, response.headers.getSetCookie().length]).to.deep.equal([200, 1]);
    expect(cookie).to.match(/^gate_session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await jsonOf(response)).to.include({ email, is_verified: false });
  });

  it('returns the same answer for a wrong password and an unknown e-mail', async () => {
    const { email } = await newPerson(service);
    const bodies: unknown[] = [];

    for (const address of [email, newEmail()]) {
      const response = await logIn(service, address, WRONG);
      expect([response.status, response.headers.getSetCookie()]).to.deep.equal([401, []]);
      bodies.push(await response.json());
    }

    expect(bodies[0]).to.deep.equal(bodies[1]);
  });

  it('accepts a password in another Unicode normalization form', async () => {
    const email = newEmail();
    await register(service, email, 'caf\u00e9 au lait, deux');

    expect((await logIn(service, email, 'cafe\u0301 au lait, deux')).status).to.equal(200);
  });

  it('returns 401 for an invalid e-mail', async () => {
    for (const email of [
      '',
      'nobody',
      'a\0b@example.com',
      '\ud800@example.com',
      `x'; DROP TABLE accounts --`,
      'x'.repeat(9000),
    ]) {
      expect((await logIn(service, email, WRONG)).status).to.equal(401);
    }
  });

  /**
   * Attempts from separate addresses, so that the tests do not use up each other's. A 503 is tried again: on a slow machine, ten password
   * checks wait too long for one another.
   */
  async function from(address: string, email: string, password: string): Promise<Response> {
    const headers = { 'X-Forwarded-For': address };
    const response = await call(service, '/v1/auth/login', { body: { email, password }, headers });
    return response.status === 503 ? from(address, email, password) : response;
  }

  for (const known of [true, false]) {
    it(`answers 429 with Retry-After after 10 failures for ${known ? 'an account' : 'an unknown e-mail'}`, async () => {
      const email = known ? (await newPerson(service)).email : newEmail();
      const address = known ? '203.0.113.1' : '203.0.113.2';

      const startMs = performance.now();
      const failures = await Promise.all(Array.from({ length: 10 }, () => from(address, email, WRONG)));
      const next = await from('203.0.113.3', email.toUpperCase(), 'correct horse battery');

      expect(failures.map(({ status }) => status)).to.deep.equal(Array(10).fill(401));
      expect([next.status, await codeOf(next)]).to.deep.equal([429, 'rate_limited']);
      // The window of 15 minutes began with the first failure.
      const elapsedSeconds = (performance.now() - startMs) / 1000;
      expect(Number(next.headers.get('Retry-After'))).to.be.within(Math.floor(900 - elapsedSeconds), 900);
    });
  }

  it('allows ten guesses in a burst of thirty', async () => {
    const { email } = await newPerson(service);

    const burst = await Promise.all(Array.from({ length: 30 }, () => from('203.0.113.4', email, WRONG)));

    expect(burst.filter(({ status }) => status === 401)).to.have.length(10);
    expect(burst.filter(({ status }) => status === 429)).to.have.length(20);
  });

  it('answers 429 after 50 failures of one address, however many accounts it tries', async () => {
    // One customer's IPv6 addresses are one address here.
    const address = (i: number) => `2001:db8:1:2::${i.toString(16)}`;
    const failures: Response[] = [];
    for (let i = 0; i < 50; i += 5) {
      const some = Array.from({ length: 5 }, (_, j) => from(address(i + j), newEmail(), WRONG));
      failures.push(...(await Promise.all(some)));
    }

    const next = await from(address(99), newEmail(), WRONG);
    const neighbour = await from('2001:db8:1:3::1', newEmail(), WRONG);

    expect(failures.map(({ status }) => status)).to.deep.equal(Array(50).fill(401));
    expect([next.status, neighbour.status]).to.deep.equal([429, 401]);
  });

  it('does not limit ingest', async () => {
    const responses = await Promise.all(
      Array.from({ length: 60 }, () => call(service, '/v1/audit/decisions', { key: 'none', body: {} })),
    );

    expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([401]));
  });
});

describe('GET /v1/auth/me and POST /v1/auth/logout', () => {
  const service = useSharedService();

  it('return the signed-in account', async () => {
    const { id, email, cookie, project } = await newPerson(service);

    const response = await call(service, '/v1/auth/me', { cookie });

    expect(response.status).to.equal(200);
    expect(await jsonOf(response)).to.deep.equal({ id, email, is_verified: false, projects: [project] });
  });

  it('return without an error, at GET /v1/auth/session, that nobody is signed in', async () => {
    const { id, email, cookie, project } = await newPerson(service);
    const sessionOf = (given: { cookie?: string }) => jsonOf(call(service, '/v1/auth/session', given));

    const answers = [
      await sessionOf({ cookie }),
      await sessionOf({ cookie: 'gate_session=x' }),
      await sessionOf({}),
    ];

    const account = { id, email, is_verified: false, projects: [project] };
    expect(answers).to.deep.equal([{ account }, { account: null }, { account: null }]);
  });

  it('end the session and clear the cookie', async () => {
    const { cookie } = await newPerson(service);

    const out = await call(service, '/v1/auth/logout', { method: 'POST', cookie });

    expect(out.status).to.equal(204);
    expect(out.headers.getSetCookie()[0]).to.match(
      /^gate_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect((await call(service, '/v1/auth/me', { cookie })).status).to.equal(401);
  });

  it('keep the other sessions of the account', async () => {
    const { email, cookie } = await newPerson(service);
    const other = cookieOf(await logIn(service, email));

    await call(service, '/v1/auth/logout', { method: 'POST', cookie });

    expect((await call(service, '/v1/auth/me', { cookie: other })).status).to.equal(200);
  });

  it('return 401 without a session and for an unknown one', async () => {
    const cookies = [
      undefined,
      'gate_session=',
      `gate_session=${'A'.repeat(43)}`,
      'gate_session=%00',
      'other=1',
    ];

    for (const cookie of cookies) {
      const given = cookie === undefined ? {} : { cookie };
      const response = await call(service, '/v1/auth/me', given);
      expect([response.status, response.headers.get('WWW-Authenticate')]).to.deep.equal([401, 'Bearer']);
      expect((await call(service, '/v1/auth/logout', { method: 'POST', ...given })).status).to.equal(401);
    }
  });
});
