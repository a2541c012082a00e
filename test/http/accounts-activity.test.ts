import { expect } from 'chai';
import {
  call,
  codeOf,
  jsonOf,
  logIn,
  mailedToken,
  newPerson,
  type Person,
  useToken,
} from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';

type Items<T> = { items: T[] };
type Entry = {
  id: string;
  event: string;
  account_id: string;
  email: string;
  key_id: string;
  address: string;
  detail: object;
};

describe('GET /v1/projects/{id}/activity', () => {
  const service = useSharedService();
  let ann: Person;
  before(async () => {
    ann = await newPerson(service);
  });

  const read = (query = '') =>
    call(service, `/v1/projects/${ann.project.id}/activity${query}`, { cookie: ann.cookie });

  it('lists actions in the project and on the accounts of its members, newest first', async () => {
    const { cookie, project } = ann;
    await logIn(service, ann.email, 'not the password');
    await newPerson(service);
    const keys = `/v1/projects/${project.id}/keys`;
    const { key, key_id } = await jsonOf<{ key: string; key_id: string }>(
      call(service, keys, { cookie, body: { name: 'ci', scope: 'register_agent edit_policy' } }),
    );
    await call(service, '/v1/agents', { key, body: { name: 'bot', tools: ['search'] } });
    const agent = `/v1/projects/${project.id}/agents/bot`;
    await call(service, agent, { method: 'PUT', cookie, body: { system_md: 'by session' } });
    await call(service, agent, { method: 'PUT', key, body: { system_md: 'by key', note: 'Why' } });
    await call(service, `${keys}/${key_id}`, { method: 'DELETE', cookie });
    await useToken(service, 'verify', await mailedToken(service, 'verify', ann.email));

    const { items } = await jsonOf<Items<Entry>>(read());

    const byAnn = { account_id: ann.id, email: ann.email, key_id: '' };
    const byKey = { account_id: '', email: '', key_id };
    const seen = items.map(({ event, account_id, email, key_id: by, detail }) => ({
      event,
      account_id,
      email,
      key_id: by,
      detail,
    }));
    expect(seen).to.deep.equal([
      { event: 'email_verified', ...byAnn, detail: {} },
      { event: 'key_revoked', ...byAnn, detail: { key_id } },
      { event: 'policy_saved', ...byKey, detail: { agent_name: 'bot', version: 3, note: 'Why' } },
      { event: 'policy_saved', ...byAnn, detail: { agent_name: 'bot', version: 2 } },
      {
        event: 'key_issued',
        ...byAnn,
        detail: { key_id, name: 'ci', scope: 'register_agent edit_policy', expires_at: null },
      },
      { event: 'login_failed', ...byAnn, detail: {} },
      { event: 'login', ...byAnn, detail: {} },
      { event: 'account_registered', ...byAnn, detail: {} },
      { event: 'project_created', ...byAnn, detail: { name: 'My project' } },
    ]);
    expect(new Set(items.map(({ address }) => address))).to.deep.equal(new Set(['127.0.0.1']));
  });

  it('hides what a member did with their account before their first action in the project', async () => {
    const bob = await newPerson(service);
    await useToken(service, 'verify', await mailedToken(service, 'verify', bob.email));
    const eve = await newPerson(service);
    const ofEve = `/v1/projects/${eve.project.id}`;

    await call(service, `${ofEve}/members`, {
      cookie: eve.cookie,
      body: { email: bob.email, role: 'admin' },
    });
    await logIn(service, bob.email, 'not the password');
    const seenBy = async ({ cookie }: Person) => {
      const { items } = await jsonOf<Items<Entry>>(call(service, `${ofEve}/activity`, { cookie }));
      return items.map(({ event, account_id }) => `${account_id === bob.id ? 'bob' : 'eve'} ${event}`);
    };

    const ofOwner = ['eve login', 'eve account_registered', 'eve project_created'];
    expect(await seenBy(eve)).to.have.members(['eve member_added', ...ofOwner]);

    await call(service, `${ofEve}/keys`, { cookie: bob.cookie, body: { name: 'ci' } });
    await logIn(service, bob.email, 'not this one either');

    const inProject = ['bob key_issued', 'eve member_added', 'bob login_failed', ...ofOwner];
    expect(await seenBy(eve)).to.have.members(inProject);
    expect(await seenBy(bob)).to.have.members([
      ...inProject,
      'bob login_failed',
      'bob email_verified',
      'bob login',
      'bob account_registered',
    ]);
  });

  it('lists the end of one session, and a wrong current password as a failed sign-in', async () => {
    const bob = await newPerson(service);
    await logIn(service, bob.email);
    const sessions = await jsonOf<Items<{ id: string; is_current: boolean }>>(
      call(service, '/v1/auth/sessions', bob),
    );
    const other = sessions.items.find(({ is_current }) => !is_current)?.id;
    const ended = await call(service, `/v1/auth/sessions/${other}`, { method: 'DELETE', cookie: bob.cookie });
    const body = { password: 'not the password', new_password: 'a new password for bob' };
    const refused = await call(service, '/v1/auth/change-password', { cookie: bob.cookie, body });

    const { items } = await jsonOf<Items<Entry>>(
      call(service, `/v1/projects/${bob.project.id}/activity?limit=2`, bob),
    );

    expect([ended.status, refused.status]).to.deep.equal([204, 403]);
    expect(items.map(({ event, account_id }) => [event, account_id])).to.deep.equal([
      ['login_failed', bob.id],
      ['sessions_ended', bob.id],
    ]);
  });

  it('returns every entry once over several pages', async () => {
    const all = await jsonOf<Items<Entry>>(read('?limit=500'));
    const ids: string[] = [];

    for (let cursor: string | null = ''; cursor !== null;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Items<Entry> & { next_cursor: string | null } = await jsonOf(read(`?limit=3${query}`));
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.next_cursor;
    }

    expect(ids).to.deep.equal(all.items.map(({ id }) => id));
  });

  it('has no next page after a full last one', async () => {
    const { items } = await jsonOf<Items<Entry>>(read('?limit=500'));

    const full = await jsonOf(read(`?limit=${items.length}`));

    expect(full).to.deep.include({ items, next_cursor: null });
  });

  const noSuchDay = '?cursor=2026-02-30T00:00:00.000Z_6f1c1f0e-5a0b-4c57-9f6e-2b8d3f1f4a10';
  for (const query of ['?limit=0', '?limit=501', '?cursor=x', '?cursor=', noSuchDay, '?limit=1&limit=2']) {
    it(`answers 422 for ${query}`, async () => {
      expect([(await read(query)).status, await codeOf(read(query))]).to.deep.equal([422, 'query_invalid']);
    });
  }
});
