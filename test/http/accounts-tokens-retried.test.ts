import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  call,
  codeOf,
  logIn,
  mailedToken,
  newPerson,
  PASSWORD,
  type TokenKind,
  useToken,
} from '../support/accounts.ts';
import { useCleanups } from '../support/cleanups.ts';
import { onServer, useServiceOnServer } from '../support/clickhouse-server/services.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

const NEW_PASSWORD = 'a brand new password';
/** The tables that each kind of token writes to when it is used; any write may fail. */
const WRITES: [TokenKind, string][] = [
  ['verify', 'accounts'],
  ['verify', 'activity'],
  ['verify', 'mailed_token_uses'],
  ['reset', 'activity'],
  ['reset', 'accounts'],
];

/** While this file exists, no password is hashed to its end. */
const HELD_BY = join(temporaryDirectory(), 'held');

describe('a one-time token', () => {
  const { cleanups } = useCleanups();
  const { server, service } = useServiceOnServer({ GATE_TEST_SCRYPT_HELD_BY: HELD_BY });

  for (const [kind, table] of WRITES) {
    it(`works once when it is retried after a 503: ${kind}, the write to ${table} failed`, async () => {
      const { email } = await newPerson(service);
      const token = await mailedToken(service, kind, email);
      await server.fail({ on: 'insert', table, does: 'fail', with: 'TABLE_IS_READ_ONLY' });
      const failed = await useToken(service, kind, token, NEW_PASSWORD);
      await server.fail();

      const statuses = [failed.status];
      for (let i = 0; i < 2; i += 1)
        statuses.push((await useToken(service, kind, token, NEW_PASSWORD)).status);

      expect(statuses).to.deep.equal([503, 200, 400]);
      const login = await logIn(service, email, kind === 'reset' ? NEW_PASSWORD : undefined);
      expect(await login.json()).to.include({ email, is_verified: kind === 'verify' });
    });
  }

  it('works when it is retried after a 503: too many passwords were being checked', async () => {
    const tokens: string[] = [];
    while (tokens.length < 3)
      tokens.push(await mailedToken(service, 'reset', (await newPerson(service)).email));
    // Two run at once, and a third may not wait for them for ever.
    writeFileSync(HELD_BY, '');
    const uses = tokens.map((token) => useToken(service, 'reset', token, NEW_PASSWORD));
    const first = await Promise.race(
      uses.map(async (use, index) => ({ token: tokens[index] ?? '', code: await codeOf(use) })),
    );
    rmSync(HELD_BY);
    await Promise.all(uses);
    const again = await useToken(service, 'reset', first.token, NEW_PASSWORD);

    expect([first.code, again.status]).to.deep.equal(['overloaded', 200]);
  });

  it('works although a stranger on the address changes the password meanwhile, through another service', async () => {
    const { email, cookie } = await newPerson(service);
    const token = await mailedToken(service, 'reset', email);
    const other = await startTestService({ dataDir: service.dataDir, env: onServer(server) });
    cleanups.push(() => other.stop());
    writeFileSync(HELD_BY, '');
    const use = useToken(service, 'reset', token, NEW_PASSWORD);
    const body = { password: PASSWORD, new_password: 'changed by the stranger' };
    const changed = await call(other, '/v1/auth/change-password', { cookie, body });
    rmSync(HELD_BY);

    expect([changed.status, (await use).status]).to.deep.equal([204, 200]);
    expect((await logIn(other, email, NEW_PASSWORD)).status).to.equal(200);
    expect((await useToken(service, 'reset', token, NEW_PASSWORD)).status).to.equal(400);
  });
});
