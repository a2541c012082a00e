import { expect } from 'chai';
import { call, codeOf, jsonOf, logIn, newEmail, newPerson, PASSWORD, register } from '../support/accounts.ts';
import { runOnStore } from '../support/engine.ts';
import { startTestService } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('POST /v1/auth/register', () => {
  const service = useSharedService();

  it('answers 201 with the account, creates a first project and sends no mail', async () => {
    const email = newEmail();

    const response = await register(service, email);
    const body = await jsonOf<{ id: string }>(response);

    expect(response.status).to.equal(201);
    expect(body).to.deep.equal({ id: body.id, email, is_verified: false });
    expect((await newPerson(service, email)).project.name).to.equal('My project');
    expect(service.output()).not.to.contain(email);
  });

  it('returns 409 for a registered e-mail in any case', async () => {
    await register(service, 'Ada.Lovelace@Example.com');

    const again = await register(service, 'ada.lovelace@example.COM');

    expect([again.status, await codeOf(again)]).to.deep.equal([409, 'conflict']);
    expect((await logIn(service, 'ADA.LOVELACE@example.com')).status).to.equal(200);
  });

  it('creates one account for 50 concurrent registrations in mixed case', async () => {
    const emails = Array.from({ length: 50 }, (_, i) =>
      i % 2 === 0 ? 'Race@Example.com' : 'race@example.COM',
    );

    const responses = await Promise.all(emails.map((email) => register(service, email)));

    const statuses = responses.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).to.deep.equal([201, ...Array<number>(49).fill(409)]);
  });

  const bad: [string, unknown][] = [
    ['no @', { email: 'nobody', password: PASSWORD }],
    ['two @', { email: 'a@b@example.com', password: PASSWORD }],
    ['a space', { email: 'a b@example.com', password: PASSWORD }],
    ['a line break', { email: 'a@example.com\r\nBcc: b@example.com', password: PASSWORD }],
    ['no e-mail', { password: PASSWORD }],
    ['an e-mail that is no text', { email: 7, password: PASSWORD }],
    ['an e-mail of 255 characters', { email: `${'a'.repeat(243)}@example.com`, password: PASSWORD }],
    ['no password', { email: newEmail() }],
    ['a password of 11 characters', { email: newEmail(), password: 'x'.repeat(11) }],
    ['a password of 11 characters in 44 bytes', { email: newEmail(), password: '🔑'.repeat(11) }],
    ['a password of 1,025 bytes', { email: newEmail(), password: 'x'.repeat(1025) }],
    ['a password of 1,026 bytes in 513 characters', { email: newEmail(), password: 'é'.repeat(513) }],
    ['a list', []],
  ];
  for (const [what, body] of bad) {
    it(`answers 422 for ${what}`, async () => {
      const response = await call(service, '/v1/auth/register', { body });

      expect([response.status, await codeOf(response)]).to.deep.equal([422, 'body_invalid']);
    });
  }

  it('accepts passwords of 12 characters and of 1,024 bytes', async () => {
    const passwords = ['é'.repeat(12), 'é'.repeat(512), 'x'.repeat(1024)];

    for (const password of passwords) {
      const email = newEmail();
      const made = await register(service, email, password);
      expect([made.status, (await logIn(service, email, password)).status]).to.deep.equal([201, 200]);
    }
  });

  it('does not repeat the password when the JSON is malformed', async () => {
    const response = await call(service, '/v1/auth/register', { body: '{"password":"hunter2hunter2" oops' });

    expect(response.status).to.equal(422);
    expect(await response.text()).not.to.contain('hunter2');
  });

  it('answers 405 with Allow for another method', async () => {
    const response = await call(service, '/v1/auth/register');

    expect([response.status, response.headers.get('Allow')]).to.deep.equal([405, 'POST']);
  });
});

describe('a registration interrupted between the account and its project', () => {
  it('is completed at the next login', async () => {
    const first = await startTestService();
    const { email, project } = await newPerson(first);
    await first.stop();
    // Along with the rows, the engine's memory of their inserts is removed, as if they had never been made.
    await runOnStore(first.dataDir, 'TRUNCATE TABLE projects');

    // Its store is not empty, but the project of its demo.json is gone.
    const second = await startTestService({ dataDir: first.dataDir, env: { GATE_DEMO: '0' } });
    const mended = await newPerson(second, email);
    await second.stop();

    expect(mended.project.name).to.equal('My project');
    expect(mended.project.id).not.to.equal(project.id);
  });
});
