import { expect } from 'chai';
import {
  call,
  cookieOf,
  jsonOf,
  logIn,
  newEmail,
  register,
  requestToken,
  useToken,
} from '../support/accounts.ts';
import { runOnStore } from '../support/engine.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { type MailServer, startMailServer } from '../support/smtp-server.ts';

const API_KEY = 'provider-api-key-9f2c';
const PASSWORDS = {
  first: 'first secret phrase',
  wrong: 'wrong secret phrase',
  second: 'second secret phrase',
};

/** The life of an account through every route, with valid and invalid calls. Resolves with every secret that occurred. */
async function live(service: TestService, mailServer: MailServer): Promise<Record<string, string>> {
  const email = newEmail();
  await register(service, email, PASSWORDS.first);
  await register(service, email, PASSWORDS.first);
  await call(service, '/v1/auth/register', { body: `{"email":"${email}","password":"${PASSWORDS.first}"` });
  await logIn(service, email, PASSWORDS.wrong);
  const cookie = cookieOf(await logIn(service, email, PASSWORDS.first));
  const me = await jsonOf<{ projects: { id: string }[] }>(call(service, '/v1/auth/me', { cookie }));
  const keys = `/v1/projects/${me.projects[0]?.id ?? ''}/keys`;
  const issued = await jsonOf<{ key: string; key_id: string }>(
    call(service, keys, { cookie, body: { name: 'x' } }),
  );
  await call(service, '/v1/audit/decisions', { key: issued.key, body: decisionEvent() });
  await call(service, '/v1/audit/decisions', { key: `${issued.key}x`, body: decisionEvent() });
  await call(service, `/v1/projects/other/keys`, { key: issued.key });
  await requestToken(service, 'verify', email);
  await requestToken(service, 'reset', email);
  const token = (path: string) =>
    eventually(() =>
      mailServer.mails.map(({ text }) => new RegExp(`/${path}/([\\w-]+)`).exec(text)?.[1]).find(Boolean),
    );
  const tokens = { verify: await token('verify-email'), reset: await token('reset-password') };
  // Like a browser that requests the dashboard's pages, and like someone who mistypes their addresses.
  for (const path of [
    `/verify-email/${tokens.verify}`,
    `/reset-password/${tokens.reset}?token=${tokens.reset}`,
    `/Reset-Password/${tokens.reset}`,
    `/reset%2Dpassword/${encodedInTheMiddle(tokens.reset)}`,
    `/reset-password%2f${encodedInTheMiddle(tokens.reset)}`,
    `/reset-password//${encodedInTheMiddle(tokens.reset)}`,
  ]) {
    await call(service, path, { cookie, key: issued.key });
  }
  for (const kind of ['verify', 'verify', 'reset', 'reset'] as const) {
    await useToken(service, kind, tokens[kind], PASSWORDS.second);
  }
  const after = cookieOf(await logIn(service, email, PASSWORDS.second));
  await call(service, `${keys}/${issued.key_id}`, { method: 'DELETE', cookie: after });
  await call(service, '/v1/audit/decisions', { key: issued.key, body: decisionEvent() });
  await call(service, '/v1/auth/logout', { method: 'POST', cookie: after });
  await call(service, '/v1/auth/me', { cookie: after });
  const secretOf = (text: string) => text.replace('gate_session=', '');
  return {
    ...PASSWORDS,
    ...tokens,
    cookie: secretOf(cookie),
    after: secretOf(after),
    key: issued.key,
    api_key: API_KEY,
  };
}

function encodedInTheMiddle(token: string): string {
  const code = token.charCodeAt(20).toString(16);
  return `${token.slice(0, 20)}%${code}${token.slice(21)}`;
}

describe('after a full run no secret', () => {
  let secrets: Record<string, string>;
  let output = '';
  let metrics = '';
  const stored = new Map<string, string>();
  before(async () => {
    const mailServer = await startMailServer({ password: API_KEY });
    const service = await startTestService({
      env: {
        GATE_DEMO: '0',
        GATE_LOG_LEVEL: 'trace',
        GATE_EMAIL_FROM: 'gate@example.com',
        MAILER_API_KEY: API_KEY,
        MAILER_SMTP_URL: mailServer.url,
      },
    });
    secrets = await live(service, mailServer);
    metrics = await (await fetch(`${service.url}/metrics`)).text();
    await service.stop();
    await mailServer.close();
    output = service.output();
    const tables = await runOnStore<{ name: string }>(
      service.dataDir,
      `SELECT name FROM system.tables WHERE database = currentDatabase()`,
    );
    const rows = tables.map(
      ({ name }) => `SELECT '${name}' AS name, formatRow('JSONEachRow', *) AS row FROM ${name}`,
    );
    for (const { name, row } of await runOnStore<{ name: string; row: string }>(
      service.dataDir,
      rows.join(' UNION ALL '),
    ))
      stored.set(name, (stored.get(name) ?? '') + row);
  });

  /** A part of a secret is as bad as all of it. */
  const expectNoSecret = (text: string, place: string) => {
    for (const [name, secret] of Object.entries(secrets))
      for (const part of [secret, secret.slice(0, 20), secret.slice(-20)])
        expect(text, `${name} in ${place}`).not.to.contain(part);
  };

  it('is missing: each one exists and was used', () => {
    for (const [name, secret] of Object.entries(secrets)) expect(secret.length, name).to.be.above(15);
    expect(output).to.contain('"url":"/verify-email/[redacted]"').and.to.contain('"url":"/v1/auth/login"');
    expect(stored.get('accounts')).to.contain('$scrypt$');
    for (const table of [
      'sessions',
      'mailed_tokens',
      'mailed_token_uses',
      'api_keys',
      'activity',
      'projects',
    ]) {
      expect(stored.get(table)?.length, table).to.be.above(10);
    }
  });

  it('is in a printed line', () => expectNoSecret(output, 'a line'));

  it('is in a metric', () => expectNoSecret(metrics, 'a metric'));

  it('is in a column of a table', () => {
    for (const [table, text] of stored) expectNoSecret(text, table);
  });
});
