import { expect } from 'chai';
import {
  call,
  codeOf,
  cookieOf,
  jsonOf,
  logIn,
  mailedToken,
  newEmail,
  register,
  requestToken,
  useToken,
  demoCookie,
} from '../support/accounts.ts';
import { useServiceOnServer } from '../support/clickhouse-server/services.ts';
import { eventually } from '../support/eventually.ts';
import { runGate } from '../support/processes.ts';
import { startTestService } from '../support/service.ts';

type Activity = { items: { event: string; email: string; detail: Record<string, string> }[] };
type Member = { account_id: string; email: string; role: string };

describe('with GATE_REGISTRATION=closed', () => {
  const { server, service } = useServiceOnServer({ GATE_REGISTRATION: 'closed' });
  let cookie: string;
  let members: string;
  before(async () => {
    cookie = await demoCookie(service);
    members = `/v1/projects/${service.project_id}/members`;
  });

  const invite = (email: string) => call(service, members, { cookie, body: { email, role: 'viewer' } });

  it('nobody can register, and the sign-in options show that', async () => {
    const response = await register(service, newEmail());

    expect([response.status, await codeOf(response)]).to.deep.equal([403, 'forbidden']);
    expect((await register(service, 'no address', 'short')).status).to.equal(403);
    expect(await jsonOf(call(service, '/v1/auth/options'))).to.deep.equal({
      registration: 'closed',
      password: true,
      sso: false,
      mail: 'printed',
    });
  });

  it('an invited person sets a password by the mailed link and is a member', async () => {
    const email = newEmail();

    const added = await invite(email);
    const link = new RegExp(
      `To: ${email}\\nSubject: You are invited to Gatehouse\\n[^]*?/reset-password/([\\w-]{43})\\n`,
    );
    const token = await eventually(() => link.exec(service.output())?.[1]);
    const before = await logIn(service, email, '');
    const set = await useToken(service, 'reset', token, 'chosen by the invited');
    const own = cookieOf(await logIn(service, email, 'chosen by the invited'));

    expect([added.status, before.status, set.status]).to.deep.equal([201, 401, 200]);
    expect(await jsonOf(set)).to.include({ email, is_verified: true });
    expect(await jsonOf<Member>(added)).to.include({ email, role: 'viewer' });
    const { items } = await jsonOf<{ items: Member[] }>(call(service, members, { cookie: own }));
    expect(items.map((one) => one.email)).to.include(email);
    expect(await jsonOf(call(service, '/v1/auth/me', { cookie: own }))).to.deep.include({
      is_verified: true,
    });
    expect((await invite(email)).status).to.equal(409);
    const activity = await jsonOf<Activity>(
      call(service, `/v1/projects/${service.project_id}/activity`, { cookie: own }),
    );
    expect(activity.items.find(({ event }) => event === 'account_registered')).to.deep.include({
      email,
      detail: { by: 'invitation' },
    });
  });

  const mailsTo = (email: string) => service.output().split(`To: ${email}\n`).length - 1;
  /** Resolves when the previously requested mails have been sent. */
  const mailsAreSent = async () => {
    const last = newEmail();
    await invite(last);
    await eventually(() => mailsTo(last) === 1);
  };

  it('a person is mailed once, and not when a member is added again; a forgotten password gets another link', async () => {
    const email = newEmail();
    const statuses = [(await invite(email)).status, (await invite(email)).status];

    await mailsAreSent();
    const invitations = mailsTo(email);
    const token = await mailedToken(service, 'reset', email);

    expect([statuses, invitations]).to.deep.equal([[201, 409], 1]);
    expect((await useToken(service, 'reset', token, 'chosen by the invited')).status).to.equal(200);
  });

  it('a person whose password was stored has a verified e-mail, though the store then failed', async () => {
    const email = newEmail();
    await invite(email);
    const token = await mailedToken(service, 'reset', email);
    await server.fail({ on: 'insert', table: 'accounts', does: 'hang up', when: 'after', times: 1 });

    const { status } = await useToken(service, 'reset', token, 'chosen by the invited');
    await server.fail();

    expect(status).to.equal(503);
    const account = await jsonOf(logIn(service, email, 'chosen by the invited'));
    expect(account).to.include({ email, is_verified: true });
  });

  it('a person whom two projects invite at once is a member of both', async () => {
    const project = await jsonOf<{ id: string }>(
      call(service, '/v1/projects', { cookie, body: { name: 'Second' } }),
    );
    const body = { email: newEmail() };
    const paths = [members, `/v1/projects/${project.id}/members`];

    const answers = await Promise.all(paths.map((path) => call(service, path, { cookie, body })));

    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201]);
  });

  it('a person with twenty mail requests becomes a member without another mail', async () => {
    const email = newEmail();
    for (let i = 0; i < 20; i += 1) await requestToken(service, 'reset', email);
    await mailsAreSent();

    const { status } = await invite(email);

    await mailsAreSent();
    expect([status, mailsTo(email)]).to.deep.equal([201, 0]);
  });
});

describe('npm run gate -- member', () => {
  it('adds no account with an unverified address, and invites by a printed link', async () => {
    const first = await startTestService();
    const squatter = newEmail();
    await register(first, squatter);
    await first.stop();
    const { dataDir, project_id } = first;
    const gate = (...args: string[]) =>
      runGate({ dataDir, args: ['member', ...args, '--project', project_id, '--json'] });

    const added = await gate('add', '--email', squatter);
    const invited = newEmail();
    const refused = [
      await gate('invite', '--email', 'not an address'),
      await gate('invite', '--email', invited, '--role', 'onwer'),
    ];
    // The state after an invitation that was interrupted before the account is a member.
    await gate('invite', '--email', invited);
    const again = await gate('invite', '--email', invited, '--role', 'viewer');
    const { link } = JSON.parse(again.stdout) as { link: string };

    expect([added.code, added.stderr]).to.deep.equal([
      1,
      'This account has not verified its e-mail address, so it could belong to anyone.\n',
    ]);
    expect(refused.map(({ code, stderr }) => [code, stderr])).to.deep.equal([
      [1, '"not an address" is not an e-mail address.\n'],
      [1, '--role must be one of viewer, editor, admin, owner, not "onwer".\n'],
    ]);
    const second = await startTestService({ dataDir, env: { GATE_REGISTRATION: 'closed' } });
    const token = link.split('/').at(-1) ?? '';
    const set = await useToken(second, 'reset', token, 'chosen by the invited');
    const login = await logIn(second, invited, 'chosen by the invited');
    const { items } = await jsonOf<Activity>(
      call(second, `/v1/projects/${project_id}/activity`, { cookie: cookieOf(login) }),
    );
    await second.stop();
    expect([set.status, login.status]).to.deep.equal([200, 200]);
    expect(
      items
        .filter(({ detail }) => detail['by'] === 'command line')
        .map(({ event, detail: { before, role } }) => [event, before, role]),
    ).to.deep.equal([
      ['member_role_changed', 'editor', 'viewer'],
      ['member_added', undefined, 'editor'],
      ['account_registered', undefined, undefined],
    ]);
  });
});
