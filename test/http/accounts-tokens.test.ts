import { expect } from 'chai';
import {
  call,
  codeOf,
  jsonOf,
  logIn,
  mailedToken,
  newPerson,
  type TokenKind,
  useToken,
} from '../support/accounts.ts';
import { createServiceClock } from '../support/clock.ts';
import { HOUR_MS } from '../../server/durations.ts';
import { useTestService } from '../support/service.ts';

const KINDS: TokenKind[] = ['verify', 'reset'];

describe('one-time tokens', () => {
  const clock = createServiceClock();
  const service = useTestService({ env: { ...clock.env, GATE_TRUSTED_PROXIES: '127.0.0.0/8' } });

  /** Retries for as long as it is told to: on a slow machine, fifty wait too long for one another. */
  async function useUntilTold(kind: TokenKind, token: string): Promise<string> {
    const response = await useToken(service, kind, token);
    if (response.status === 503) return useUntilTold(kind, token);
    return `${response.status} ${response.ok ? 'ok' : await codeOf(response)}`;
  }

  it('verify an account, and a second one keeps it verified', async () => {
    const { id, email, cookie } = await newPerson(service);
    const tokens = [await mailedToken(service, 'verify', email), await mailedToken(service, 'verify', email)];

    for (const token of tokens) {
      const response = await useToken(service, 'verify', token);
      expect(response.status).to.equal(200);
      expect(await jsonOf(response)).to.deep.equal({ id, email, is_verified: true });
    }

    expect(await jsonOf(call(service, '/v1/auth/me', { cookie }))).to.include({ is_verified: true });
  });

  it('set a new password and invalidate every other reset token of the account', async () => {
    const { id, email } = await newPerson(service);
    const [older, newer] = [
      await mailedToken(service, 'reset', email),
      await mailedToken(service, 'reset', email),
    ];

    const response = await useToken(service, 'reset', newer, 'a brand new password');

    expect(response.status).to.equal(200);
    expect(await jsonOf(response)).to.deep.equal({ id, email, is_verified: false });
    expect(await codeOf(useToken(service, 'reset', older))).to.equal('token_invalid');
    expect((await logIn(service, email, 'a brand new password')).status).to.equal(200);
  });

  it('stay valid after a reset with a password that is too short', async () => {
    const { email } = await newPerson(service);
    const token = await mailedToken(service, 'reset', email);

    const statuses = [
      await useToken(service, 'reset', token, 'short'),
      await useToken(service, 'reset', token),
    ];

    expect(statuses.map(({ status }) => status)).to.deep.equal([422, 200]);
  });

  it('keep both the verification and the new password when they are used at the same time', async () => {
    const { email } = await newPerson(service);
    const [verify, reset] = [
      await mailedToken(service, 'verify', email),
      await mailedToken(service, 'reset', email),
    ];

    await Promise.all([
      useToken(service, 'verify', verify),
      useToken(service, 'reset', reset, 'a brand new password'),
    ]);

    const login = await logIn(service, email, 'a brand new password');
    expect(login.status).to.equal(200);
    expect(await jsonOf(login)).to.include({ is_verified: true });
  });

  for (const kind of KINDS) {
    it(`for ${kind}: one of 50 concurrent uses succeeds`, async () => {
      const { email } = await newPerson(service);
      const token = await mailedToken(service, kind, email);

      const answers = await Promise.all(Array.from({ length: 50 }, () => useUntilTold(kind, token)));

      expect(answers.sort()).to.deep.equal(['200 ok', ...Array<string>(49).fill('400 token_invalid')]);
    });

    it(`for ${kind}: return 400 when used before, foreign, truncated, changed or empty`, async () => {
      const { email } = await newPerson(service);
      const used = await mailedToken(service, kind, email);
      await useToken(service, kind, used);
      const fresh = await mailedToken(service, kind, email);
      const foreign = await mailedToken(service, kind === 'verify' ? 'reset' : 'verify', email);
      const changed = `${fresh.startsWith('A') ? 'B' : 'A'}${fresh.slice(1)}`;

      for (const token of [
        used,
        foreign,
        fresh.slice(0, -1),
        changed,
        `${fresh}A`,
        '',
        ' ',
        '\0',
        service.key,
      ]) {
        const response = await useToken(service, kind, token);
        expect([response.status, await codeOf(response)]).to.deep.equal([400, 'token_invalid']);
      }
      expect((await useToken(service, kind, fresh)).status).to.equal(200);
    });

    it(`for ${kind}: return 422 for an invalid body`, async () => {
      const path = kind === 'verify' ? '/v1/auth/verify' : '/v1/auth/reset-password';

      for (const body of [{}, { token: 7, password: 'correct horse battery' }, { token: null }, []]) {
        expect((await call(service, path, { body })).status).to.equal(422);
      }
    });
  }

  it('allow 300 guesses from one address, even at once, and then none until later', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9' };
    const guess = () => call(service, '/v1/auth/verify', { body: { token: 'x'.repeat(43) }, headers });
    const answers: Response[] = [];
    while (!answers.some(({ status }) => status === 429))
      answers.push(...(await Promise.all(Array.from({ length: 32 }, guess))));
    const refused = answers.find(({ status }) => status === 429);

    // On a slow machine some wait too long for one another and are told to retry. Until then they count as guesses.
    const [wrong = 0, late = 0] = [400, 503].map(
      (code) => answers.filter((one) => one.status === code).length,
    );
    expect(wrong).to.be.within(300 - late, 300);
    expect(refused && (await codeOf(refused))).to.equal('rate_limited');
  });

  it('expire after 24 hours for verify and after 1 hour for reset', async () => {
    const { email } = await newPerson(service);
    const lifetimes: [TokenKind, number][] = [
      ['verify', 24 * HOUR_MS],
      ['reset', HOUR_MS],
    ];

    for (const [kind, lifetimeMs] of lifetimes) {
      const [withTimeout, late] = [
        await mailedToken(service, kind, email),
        await mailedToken(service, kind, email),
      ];
      clock.passMs(lifetimeMs - 60_000);
      // A reset invalidates the other reset tokens, so the expired one is a new one.
      expect((await useToken(service, kind, withTimeout)).status).to.equal(200);
      const expiring = kind === 'verify' ? late : await mailedToken(service, kind, email);
      clock.passMs(kind === 'verify' ? 61_000 : lifetimeMs + 1000);
      expect(await codeOf(useToken(service, kind, expiring))).to.equal('token_invalid');
    }
  });
});
