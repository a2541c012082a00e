import { expect } from 'chai';
import {
  call,
  codeOf,
  jsonOf,
  newMember,
  newPerson,
  newVerifiedPerson,
  type Person,
} from '../support/accounts.ts';
import { decisionEvent } from '../support/events.ts';
import { ingest, issue, type Key, keysPath, revoke } from '../support/keys.ts';
import { codeOf as rawCodeOf, holdBody } from '../support/raw-http.ts';
import { useSharedService } from '../support/shared-service.ts';

type Member = { account_id: string; email: string; role: string; added_at: string };

describe('roles of members', () => {
  const service = useSharedService();
  const people = {} as Record<'viewer' | 'editor' | 'admin' | 'owner' | 'other' | 'stranger', Person>;
  let project: Person['project'];
  before(async () => {
    people.owner = await newPerson(service);
    project = people.owner.project;
    for (const role of ['viewer', 'editor', 'admin'] as const)
      people[role] = await newMember(service, people.owner, role);
    people.other = await newMember(service, people.owner, 'viewer');
    people.stranger = await newPerson(service);
  });

  const path = (id = '') => `/v1/projects/${project.id}/members${id === '' ? '' : `/${id}`}`;
  const setRole = ({ cookie }: Person, { id }: Person, role: unknown) =>
    call(service, path(id), { method: 'PUT', cookie, body: { role } });
  const add = ({ cookie }: Person, { email }: Person, role?: unknown) =>
    call(service, path(), { cookie, body: { email, role } });
  const remove = ({ cookie }: Person, { id }: Person) =>
    call(service, path(id), { method: 'DELETE', cookie });
  const roles = async () => {
    const { items } = await jsonOf<{ items: Member[] }>(call(service, path(), people.owner));
    return Object.fromEntries(items.map(({ account_id, role }) => [account_id, role]));
  };
  const roleOf = async ({ id }: Person) => (await roles())[id];

  it('are in the list, with the creator of the project as its owner', async () => {
    const { owner, viewer, editor, admin, other } = people;
    expect(await roles()).to.deep.equal({
      [owner.id]: 'owner',
      [viewer.id]: 'viewer',
      [editor.id]: 'editor',
      [admin.id]: 'admin',
      [other.id]: 'viewer',
    });
  });

  it('decide who may add, change and remove members of which role', async () => {
    const { owner, admin, other } = people;
    const attempts: [Person, (by: Person) => Promise<Response>, number][] = [
      [people.viewer, (by) => setRole(by, other, 'editor'), 403],
      [people.editor, (by) => remove(by, other), 403],
      [people.editor, (by) => add(by, people.stranger, 'viewer'), 403],
      [admin, (by) => setRole(by, other, 'editor'), 200],
      [admin, (by) => setRole(by, other, 'admin'), 403],
      [admin, (by) => setRole(by, owner, 'viewer'), 403],
      [admin, (by) => remove(by, owner), 403],
      [admin, (by) => remove(by, other), 204],
      [admin, (by) => add(by, other, 'owner'), 403],
      [admin, (by) => add(by, other, 'viewer'), 201],
      [owner, (by) => setRole(by, other, 'admin'), 200],
      [admin, (by) => remove(by, other), 403],
      [admin, (by) => setRole(by, other, 'viewer'), 403],
      [owner, (by) => remove(by, other), 204],
      [owner, (by) => add(by, other, 'owner'), 201],
      [owner, (by) => setRole(by, other, 'viewer'), 200],
    ];
    for (const [index, [by, attempt, status]] of attempts.entries())
      expect((await attempt(by)).status, `attempt ${index}`).to.equal(status);
    expect(await roleOf(other)).to.equal('viewer');
  });

  it('are editor by default', async () => {
    const { owner, other } = people;
    await remove(owner, other);
    const added = await jsonOf<Member>(add(owner, other));
    expect([added.role, await roleOf(other)]).to.deep.equal(['editor', 'editor']);
  });

  it('keep the time at which the member was added when they change', async () => {
    const before = await jsonOf<Member>(setRole(people.owner, people.other, 'viewer'));
    const after = await jsonOf<Member>(setRole(people.owner, people.other, 'admin'));
    expect([before.role, after.role, after.added_at]).to.deep.equal(['viewer', 'admin', before.added_at]);
  });

  it('are refused with 422 when unknown, and with 404 for accounts that are not members', async () => {
    const { owner, viewer, stranger } = people;
    for (const role of ['root', '', null, 7, undefined]) {
      const response = await setRole(owner, viewer, role);
      expect([response.status, await codeOf(response)]).to.deep.equal([422, 'body_invalid']);
    }
    const response = await setRole(owner, stranger, 'viewer');
    expect([response.status, await codeOf(response)]).to.deep.equal([404, 'not_found']);
  });

  it('let every member leave, and step down, but not up', async () => {
    const { owner, admin } = people;
    const steps = ['owner', 'editor', 'admin'];
    const statuses = [];
    for (const role of steps) statuses.push((await setRole(admin, admin, role)).status);
    expect([statuses, await roleOf(admin)]).to.deep.equal([[403, 200, 403], 'editor']);
    await setRole(owner, admin, 'admin');

    for (const role of ['viewer', 'editor', 'admin'] as const) {
      const member = people[role];
      expect((await remove(member, member)).status).to.equal(204);
      expect((await call(service, path(), member)).status).to.equal(403);
      expect((await add(owner, member, role)).status).to.equal(201);
    }
  });

  it('answer 409 when the last owner leaves or steps down, and allow it when there is another', async () => {
    const { owner, admin } = people;
    await setRole(owner, people.other, 'viewer');
    const refused = [await remove(owner, owner), await setRole(owner, owner, 'admin')];
    expect(refused.map(({ status }) => status)).to.deep.equal([409, 409]);
    expect(await codeOf(refused[0] as Response)).to.equal('conflict');

    await setRole(owner, admin, 'owner');
    expect((await setRole(owner, owner, 'viewer')).status).to.equal(200);
    expect((await setRole(owner, owner, 'owner')).status, 'a viewer takes the project back').to.equal(403);
    expect((await remove(admin, admin)).status, 'the new last owner leaves').to.equal(409);
    expect((await setRole(admin, owner, 'owner')).status).to.equal(200);
    expect((await remove(owner, owner)).status).to.equal(204);
    expect((await call(service, path(), owner)).status).to.equal(403);
    const projects = await jsonOf<{ items: { id: string }[] }>(call(service, '/v1/projects', owner));
    expect(projects.items.map(({ id }) => id)).not.to.include(project.id);
  });
});

describe('members removed with revoke_keys=true', () => {
  const service = useSharedService();
  let owner: Person;
  let viewer: Person;
  let removed: Person;
  before(async () => {
    owner = await newPerson(service);
    viewer = await newMember(service, owner, 'viewer');
    removed = await newVerifiedPerson(service);
  });
  beforeEach(async () => {
    const body = { email: removed.email, role: 'admin' };
    await call(service, path(), { cookie: owner.cookie, body });
  });

  const path = (id = '') => `/v1/projects/${owner.project.id}/members${id}`;
  const remove = ({ cookie }: Person, { id }: Person, query = '') =>
    call(service, `${path(`/${id}`)}${query}`, { method: 'DELETE', cookie });

  const removeWithKeys = (by: Person, member: Person, value = 'true') =>
    remove(by, member, `?revoke_keys=${value}`);
  const keyOf = ({ cookie }: Person) => issue(service, { cookie, project: owner.project });

  it('lose the keys that they issued, and no others', async () => {
    const [own, second, others] = [await keyOf(removed), await keyOf(removed), await keyOf(owner)];

    expect((await removeWithKeys(owner, removed)).status).to.equal(204);

    const statuses = [await ingest(service, own.key), await ingest(service, second.key)];
    expect([...statuses, await ingest(service, others.key)]).to.deep.equal([401, 401, 202]);
    const { items } = await jsonOf<{ items: { event: string; detail: unknown }[] }>(
      call(service, `/v1/projects/${owner.project.id}/activity?limit=3`, owner),
    );
    expect(items.map(({ event }) => event)).to.deep.equal(['key_revoked', 'key_revoked', 'member_removed']);
    expect((await removeWithKeys(owner, removed)).status).to.equal(404);
  });

  it('lose all keys at once, however many they issued', async () => {
    const issued = [await keyOf(removed), await keyOf(removed), await keyOf(removed)];

    await removeWithKeys(owner, removed);

    const { items } = await jsonOf<{ items: Key[] }>(call(service, keysPath(owner), owner));
    const ids = issued.map(({ key_id }) => key_id);
    const times = items.flatMap(({ key_id, revoked_at }) => (ids.includes(key_id) ? [revoked_at] : []));
    expect(times)
      .to.deep.equal(ids.map(() => times[0]))
      .and.not.include(null);
  });

  it('keep them by default, and lose them by a later call', async () => {
    const { key } = await keyOf(removed);

    expect((await remove(owner, removed)).status).to.equal(204);
    expect(await ingest(service, key)).to.equal(202);
    expect((await removeWithKeys(owner, removed)).status).to.equal(204);
    expect(await ingest(service, key)).to.equal(401);
  });

  it('keep them when the removal is refused, or the query is wrong', async () => {
    const { key } = await keyOf(owner);

    const refused = [
      await removeWithKeys(owner, owner),
      await removeWithKeys(removed, owner),
      await removeWithKeys(viewer, viewer),
      await removeWithKeys(owner, removed, 'yes'),
    ];

    expect(refused.map(({ status }) => status)).to.deep.equal([409, 403, 403, 422]);
    expect(await ingest(service, key)).to.equal(202);
  });
});

describe('a right that is withdrawn while the body of a call arrives', () => {
  const service = useSharedService();
  let owner: Person;
  let admin: Person;
  beforeEach(async () => {
    owner = await newPerson(service);
    admin = await newMember(service, owner, 'admin');
  });

  const members = () => `/v1/projects/${owner.project.id}/members`;
  const hold = (path: string, headers: Record<string, string>, body: unknown) =>
    holdBody(service.url, path, { headers, body });
  const holdAs = ({ cookie }: Person, path: string, body: unknown) => hold(path, { Cookie: cookie }, body);
  const outcomeOf = async (send: () => Promise<Parameters<typeof rawCodeOf>[0]>) => rawCodeOf(await send());
  const removeAdmin = () =>
    call(service, `${members()}/${admin.id}?revoke_keys=true`, { method: 'DELETE', cookie: owner.cookie });

  it('no longer issues keys or adds members: a removed member gets 403', async () => {
    const guest = await newVerifiedPerson(service);
    const held = [
      await holdAs(admin, keysPath(owner), {}),
      await holdAs(admin, members(), { email: guest.email, role: 'viewer' }),
    ];

    expect((await removeAdmin()).status).to.equal(204);

    const outcomes = await Promise.all(held.map(outcomeOf));
    expect(outcomes).to.deep.equal(held.map(() => [403, 'forbidden']));
  });

  it('is gone with the session: 401', async () => {
    const send = await holdAs(admin, keysPath(owner), {});

    await call(service, '/v1/auth/logout', { method: 'POST', cookie: admin.cookie });

    expect(await outcomeOf(send)).to.deep.equal([401, 'unauthenticated']);
  });

  it('is gone with the bearer key: 401 for one event and for a batch', async () => {
    const { key, key_id } = await issue(service, owner);
    const headers = { Authorization: `Bearer ${key}` };
    const held = [
      await hold('/v1/audit/decisions', headers, decisionEvent()),
      await hold('/v1/audit/decisions/batch', headers, [decisionEvent()]),
    ];

    expect((await revoke(service, owner, key_id)).status).to.equal(204);

    const outcomes = await Promise.all(held.map(outcomeOf));
    expect(outcomes).to.deep.equal(held.map(() => [401, 'unauthenticated']));
  });

  it('is checked again: an admin who has become a viewer issues no key', async () => {
    const send = await holdAs(admin, keysPath(owner), {});
    const role = { cookie: owner.cookie, method: 'PUT', body: { role: 'viewer' } };
    expect((await call(service, `${members()}/${admin.id}`, role)).status).to.equal(200);

    expect(await outcomeOf(send)).to.deep.equal([403, 'forbidden']);
  });

  it('remains valid if nothing is withdrawn', async () => {
    const send = await holdAs(admin, keysPath(owner), {});

    expect((await send()).status).to.equal(201);
  });
});
