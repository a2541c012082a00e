import { expect } from 'chai';
import { call, codeOf, jsonOf, newMember, newPerson } from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';

type Settings = {
  rules: Record<string, boolean>;
  muted_until: string | null;
  webhook: { url: string } | null;
};

describe('the alert settings of a project', () => {
  const service = useSharedService();
  const ask = (what: string, method = 'GET', body?: unknown) =>
    call(service, `/v1/projects/${service.project_id}/alerts${what}`, {
      method,
      cookie: service.owner.cookie,
      ...(body === undefined ? {} : { body }),
    });
  const settings = () => jsonOf<Settings>(ask('/settings'));

  it('are off at first, and the history is empty', async () => {
    expect(await settings()).to.deep.equal({
      project_id: service.project_id,
      rules: { denials: false, new_names: false, silence: false },
      muted_until: null,
      webhook: null,
    });
    expect(await jsonOf(ask(''))).to.deep.equal({
      project_id: service.project_id,
      items: [],
      limit: 50,
      next_cursor: null,
    });
  });

  it('change one rule and leave the others', async () => {
    await ask('/settings', 'PUT', { rules: { denials: true } });
    await ask('/settings', 'PUT', { rules: { silence: true } });
    const changed = await jsonOf<Settings>(ask('/settings', 'PUT', { rules: { silence: false } }));

    expect(changed.rules).to.deep.equal({ denials: true, new_names: false, silence: false });
    expect(await settings()).to.deep.equal(changed);
  });

  it('have only their own rules, whatever is requested', async () => {
    const changed = await jsonOf<Settings>(ask('/settings', 'PUT', { rules: { denials: true, other: [1] } }));

    expect(changed.rules).to.have.all.keys('denials', 'new_names', 'silence');
  });

  it('are muted until a time, and unmuted', async () => {
    const until = new Date(Date.now() + 60_000).toISOString();
    const muted = await jsonOf<Settings>(ask('/settings', 'PUT', { muted_until: until }));
    const past = await jsonOf<Settings>(ask('/settings', 'PUT', { muted_until: '2026-01-01T00:00:00Z' }));
    await ask('/settings', 'PUT', { muted_until: until });
    const unmuted = await jsonOf<Settings>(ask('/settings', 'PUT', { muted_until: null }));

    expect([muted, past, unmuted].map(({ muted_until }) => muted_until)).to.deep.equal([until, null, null]);
  });

  it('show the secret of a webhook once, and a new one each time', async () => {
    const url = 'https://hooks.example.com/gatehouse';
    const [first, second] = [
      await jsonOf<{ secret: string }>(ask('/webhook', 'PUT', { url })),
      await jsonOf<{ secret: string }>(ask('/webhook', 'PUT', { url })),
    ];
    const shown = await (await ask('/settings')).text();
    const removed = await ask('/webhook', 'DELETE');

    expect(first.secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(second.secret).not.to.equal(first.secret);
    expect(shown).to.contain(url).and.not.to.contain('whsec_');
    expect(removed.status).to.equal(204);
    expect((await settings()).webhook).to.equal(null);
  });

  it('refuse a webhook that leads to a private network', async () => {
    for (const url of ['https://169.254.169.254/', 'http://hooks.example.com/', 'https://localhost:8000/'])
      expect(await codeOf(ask('/webhook', 'PUT', { url }))).to.equal('body_invalid');
  });

  it('leave activity without the address of the webhook, which may hold a token', async () => {
    await ask('/webhook', 'PUT', { url: 'https://hooks.example.com/secret-path' });
    for (let i = 0; i < 2; i += 1) expect((await ask('/webhook', 'DELETE')).status).to.equal(204);
    const activity = await call(service, `/v1/projects/${service.project_id}/activity?limit=2`, {
      cookie: service.owner.cookie,
    });

    expect(await activity.text())
      .to.contain('"event":"webhook_removed"')
      .and.contain('"event":"webhook_set"')
      .and.contain('hooks.example.com')
      .and.not.to.contain('secret-path');
  });

  it('show the whole address of a webhook, which may hold a token, only to those who may set it', async () => {
    const owner = await newPerson(service);
    const path = `/v1/projects/${owner.project.id}/alerts`;
    const url = 'https://hooks.example.com:8443/secret-path?token=secret';
    await call(service, `${path}/webhook`, { method: 'PUT', cookie: owner.cookie, body: { url } });
    const urlFor = async ({ cookie }: { cookie: string }, more = {}) =>
      (await jsonOf<Settings>(call(service, `${path}/settings`, { cookie, ...more }))).webhook?.url;
    const [viewer, editor, admin] = [
      await newMember(service, owner, 'viewer'),
      await newMember(service, owner, 'editor'),
      await newMember(service, owner, 'admin'),
    ];

    const whole = [await urlFor(owner), await urlFor(admin)];
    const change = { method: 'PUT', body: { rules: { silence: true } } };
    const short = [await urlFor(viewer), await urlFor(editor), await urlFor(editor, change)];

    expect(whole).to.deep.equal([url, url]);
    expect(short).to.deep.equal(Array(3).fill('https://hooks.example.com:8443'));
    expect(await urlFor(owner)).to.equal(url);
  });

  it('refuse a cursor of another list', async () => {
    expect(await codeOf(ask('?cursor=x'))).to.equal('query_invalid');
  });
});
