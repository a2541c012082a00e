import { expect } from 'chai';
import {
  codeOf,
  logIn,
  mailedToken,
  newEmail,
  newPerson,
  type TokenKind,
  useToken,
} from '../support/accounts.ts';
import { eventually } from '../support/eventually.ts';
import { useServiceOnServer } from '../support/clickhouse-server/services.ts';

const NEW_PASSWORD = 'a brand new password';
/** The tables that each kind of token writes to when it is used; any write may fail. */
const WRITES: [TokenKind, string][] = [
  ['verify', 'accounts'],
  ['verify', 'activity'],
  ['verify', 'mailed_token_uses'],
  ['reset', 'activity'],
  ['reset', 'accounts'],
];

describe('a one-time token whose use was answered 503', () => {
  const { server, service } = useServiceOnServer({ GATE_TEST_SCRYPT_MS: '400' });

  for (const [kind, table] of WRITES) {
    it(`works once when it is retried: ${kind}, the write to ${table} failed`, async () => {
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

  it('works when it is retried: too many passwords were being checked', async () => {
    const tokens: string[] = [];
    while (tokens.length < 4)
      tokens.push(await mailedToken(service, 'reset', (await newPerson(service)).email));
    let isOver = false;
    // More than may wait, and refused callers retry: a place is rarely free.
    const crowd = Array.from({ length: 80 }, async () => {
      while (!isOver) await logIn(service, newEmail());
    });
    await eventually(async () => (await logIn(service, newEmail())).status === 503);

    const refused = await Promise.all(
      tokens.map(async (token) => {
        const response = await useToken(service, 'reset', token, NEW_PASSWORD);
        return (await codeOf(response)) === 'overloaded' ? [{ token, status: response.status }] : [];
      }),
    );
    isOver = true;
    await Promise.all(crowd);
    const [first] = refused.flat();
    if (first === undefined) throw new Error('None of four uses was refused');
    const again = await useToken(service, 'reset', first.token, NEW_PASSWORD);

    expect([first.status, again.status]).to.deep.equal([503, 200]);
  });
});
