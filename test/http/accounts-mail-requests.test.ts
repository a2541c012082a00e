import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  mailedToken,
  newEmail,
  newPerson,
  register,
  requestToken,
  type TokenKind,
} from '../support/accounts.ts';
import { runOnStore } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService, useTestService } from '../support/service.ts';

const KINDS: TokenKind[] = ['verify', 'reset'];

describe('POST /v1/auth/forgot-password and /v1/auth/request-verify-token', () => {
  const service = useTestService({ env: { GATE_TRUSTED_PROXIES: '127.0.0.0/8' } });

  it('return 202 with the same body for known, unknown and invalid e-mails, and mail only the known', async () => {
    const { email } = await newPerson(service);
    const unknown = newEmail();
    const bodies = new Set<string>();

    for (const kind of KINDS) {
      for (const address of [email, email.toUpperCase(), unknown, 'nobody', '']) {
        const response = await requestToken(service, kind, address);
        expect(response.status).to.equal(202);
        bodies.add(await response.text());
      }
    }

    expect([...bodies]).to.deep.equal(['{"status":"accepted"}']);
    await eventually(() => service.output().split(`To: ${email}\n`)[4]);
    expect(service.output()).not.to.contain(unknown);
  });

  it('answer 202 to endless requests for one account, and mail it twenty times', async () => {
    const { email } = await newPerson(service);
    const after = newEmail();
    await register(service, after);

    const answers: string[] = [];
    for (let i = 0; i < 13; i += 1) {
      const some = KINDS.map((kind) => requestToken(service, kind, email));
      for (const response of await Promise.all(some))
        answers.push(`${response.status} ${response.headers.get('Retry-After')} ${await response.text()}`);
    }
    await requestToken(service, 'verify', after);
    await eventually(() => service.output().split(`To: ${after}\n`)[1]);

    expect(answers).to.deep.equal(Array(26).fill('202 null {"status":"accepted"}'));
    expect(service.output().split(`To: ${email}\n`)).to.have.length(21);
  });

  it('mail a caller’s only request before the many requests of another', async () => {
    const [{ email: first }, { email: last }, { email: only }] = [
      await newPerson(service),
      await newPerson(service),
      await newPerson(service),
    ];
    const asks = (address: string, email: string) => requestToken(service, 'reset', email, address);

    const many = [first, ...Array.from({ length: 148 }, newEmail), last];
    await Promise.all(many.map((email) => asks('198.51.100.1', email)));
    await asks('198.51.100.2', only);
    // Only the earlier one: on a busy machine the last of so many waits for minutes.
    const mailed = () => [...service.output().matchAll(/^To: (.*)$/gm)].map(([, to]) => to);
    const earlier = await eventually(() => mailed().find((to) => to === only || to === last));

    expect(earlier).to.equal(only);
  });

  it('answer 202 to endless requests from one address, and mail nothing more', async () => {
    const { email } = await newPerson(service);
    const statuses = new Set<number>();

    const asks = (address: string) => requestToken(service, 'reset', address, '198.51.100.3');
    for (const { status } of await Promise.all(Array.from({ length: 500 }, () => asks(newEmail()))))
      statuses.add(status);
    statuses.add((await asks(email)).status);
    await sleep(200);

    expect([...statuses]).to.deep.equal([202]);
    expect(service.output()).not.to.contain(email);
  });

  it('write nothing for unknown e-mails', async () => {
    const other = await startTestService();
    const { email } = await newPerson(other);
    await Promise.all(Array.from({ length: 20 }, () => requestToken(other, 'reset', newEmail())));
    await mailedToken(other, 'reset', email);
    await other.stop();

    const rows = await runOnStore(other.dataDir, 'SELECT kind FROM mailed_tokens');

    expect(rows).to.deep.equal([{ kind: 'reset' }]);
  });
});
