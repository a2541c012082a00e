import { expect } from 'chai';
import {
  call,
  codeOf,
  cookieOf,
  jsonOf,
  logIn,
  newEmail,
  newPerson,
  type Person,
  newVerifiedPerson,
} from '../support/accounts.ts';
import { createServiceClock } from '../support/clock.ts';
import { useSharedService } from '../support/shared-service.ts';
import { useTestService } from '../support/service.ts';

type Project = { id: string; name: string; created_at: string };
type Items<T> = { items: T[] };
type Member = { account_id: string; email: string; role: string };

describe('POST and GET /v1/projects', () => {
  const service = useSharedService();
  let ann: Person;
  before(async () => {
    ann = await newPerson(service);
  });

  const create = (person: Person, name: unknown) =>
    call(service, '/v1/projects', { cookie: person.cookie, body: { name } });

  it("create a project and list the account's projects, oldest first", async () => {
    const response = await create(ann, 'Second');
    const project = await jsonOf<Project>(response);

    expect(response.status).to.equal(201);
    expect(project).to.deep.equal({ id: project.id, name: 'Second', created_at: project.created_at });
    expect(project.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { items } = await jsonOf<Items<Project>>(call(service, '/v1/projects', { cookie: ann.cookie }));
    expect(items.map(({ name }) => name)).to.deep.equal(['My project', 'Second']);
    expect(items[1]).to.deep.equal(project);
  });

  it('distinguish a project from one that does not exist, at GET /v1/projects/{id}', async () => {
    const [found, none] = [
      await call(service, `/v1/projects/${ann.project.id}`),
      await call(service, '/v1/projects/nobody'),
    ];

    expect(await jsonOf(found)).to.deep.include(ann.project);
    expect([none.status, await codeOf(none)]).to.deep.equal([404, 'not_found']);
  });

  it('return 409 for a name that the account already uses, in any case, and accept it for another account', async () => {
    const bob = await newPerson(service);
    await create(ann, 'Mine');

    const [again, other] = [await create(ann, 'MINE'), await create(bob, 'mine')];

    expect([again.status, await codeOf(again), other.status]).to.deep.equal([409, 'conflict', 201]);
  });

  it('create one project for 50 concurrent requests with one name', async () => {
    // On a slow machine, the last ones are told to retry, and do so.
    const createOrComeBack = async (): Promise<Response> => {
      const response = await create(ann, 'Race');
      return response.status === 503 ? createOrComeBack() : response;
    };
    const responses = await Promise.all(Array.from({ length: 50 }, createOrComeBack));

    const statuses = responses.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).to.deep.equal([201, ...Array<number>(49).fill(409)]);
  });

  for (const name of ['', '   ', 'x'.repeat(101), 'a\0b', '\ud800', 7, null, undefined]) {
    it(`return 422 for the name ${JSON.stringify(name)?.slice(0, 30)}`, async () => {
      const response = await create(ann, name);

      expect([response.status, await codeOf(response)]).to.deep.equal([422, 'body_invalid']);
    });
  }

  it('return 401 without a session and 403 with a bearer key', async () => {
    const statuses = [
      await call(service, '/v1/projects'),
      await call(service, '/v1/projects', { body: { name: 'X' } }),
      await call(service, '/v1/projects', { key: service.key }),
      await call(service, '/v1/projects', { key: service.key, body: { name: 'X' } }),
    ];

    expect(statuses.map(({ status }) => status)).to.deep.equal([401, 401, 403, 403]);
  });
});

describe('members of a project', () => {
  const clock = createServiceClock();
  const service = useTestService({ env: clock.env });
  let ann: Person;
  let bob: Person;
  before(async () => {
    [ann, bob] = [await newPerson(service), await newVerifiedPerson(service)];
  });

  const path = () => `/v1/projects/${ann.project.id}/members`;
  const add = (email: string, cookie = ann.cookie) => call(service, path(), { cookie, body: { email } });
  const remove = (id: string, cookie = ann.cookie) =>
    call(service, `${path()}/${id}`, { method: 'DELETE', cookie });
  const canRead = async ({ cookie }: Person) => (await call(service, path(), { cookie })).status;

  it('are added by a member, see the project, and are removed again', async () => {
    const added = await add(bob.email.toUpperCase());

    expect(added.status).to.equal(201);
    expect(await jsonOf<Member>(added)).to.include({ account_id: bob.id, email: bob.email, role: 'editor' });
    const { items } = await jsonOf<Items<Member>>(call(service, path(), { cookie: bob.cookie }));
    expect(items.map(({ email, role }) => [email, role])).to.deep.equal([
      [ann.email, 'owner'],
      [bob.email, 'editor'],
    ]);
    const own = await jsonOf<Items<Project>>(call(service, '/v1/projects', { cookie: bob.cookie }));
    expect(own.items.map(({ id }) => id)).to.have.members([ann.project.id, bob.project.id]);
    expect([(await remove(bob.id)).status, await canRead(bob), await canRead(ann)]).to.deep.equal([
      204, 403, 200,
    ]);
  });

  it('are listed with the owner first', async () => {
    for (let round = 0; round < 12; round += 1) {
      const project = await jsonOf<Project>(
        call(service, '/v1/projects', { cookie: ann.cookie, body: { name: `round ${round}` } }),
      );
      const members = `/v1/projects/${project.id}/members`;
      await call(service, members, { cookie: ann.cookie, body: { email: bob.email } });
      const { items } = await jsonOf<Items<Member>>(call(service, members, { cookie: ann.cookie }));
      expect(items.map(({ email }) => email)).to.deep.equal([ann.email, bob.email]);
    }
  });

  it('can be added once, and again after a removal', async () => {
    const statuses = [await add(bob.email), await add(bob.email), await remove(bob.id), await add(bob.email)];

    expect(statuses.map(({ status }) => status)).to.deep.equal([201, 409, 204, 201]);
    await remove(bob.id);
  });

  it('must have a verified e-mail, because anyone can register any address', async () => {
    const squatter = await newPerson(service);

    const codes = [await codeOf(add(squatter.email)), await codeOf(add(newEmail()))];

    expect(codes).to.deep.equal(['not_found', 'not_found']);
  });

  it('cannot be searched for without limit: the answer reveals which addresses are verified accounts', async () => {
    const eve = await newPerson(service);
    const path = `/v1/projects/${eve.project.id}/members`;
    const look = () => call(service, path, { cookie: eve.cookie, body: { email: newEmail() } });

    const answers = await Promise.all(Array.from({ length: 60 }, look));
    const next = await look();

    expect(new Set(answers.map(({ status }) => status))).to.deep.equal(new Set([404]));
    expect([next.status, await codeOf(next)]).to.deep.equal([429, 'rate_limited']);
  });

  it('can be removed and added again by a process whose clock is behind', async () => {
    const statuses: number[] = [];

    clock.passMs(60_000);
    statuses.push((await add(bob.email)).status);
    clock.passMs(-60_000);
    statuses.push((await remove(bob.id)).status, await canRead(bob));
    statuses.push((await add(bob.email)).status, await canRead(bob), (await remove(bob.id)).status);

    expect(statuses).to.deep.equal([201, 204, 403, 201, 200, 204]);
  });

  it('are removed once by ten concurrent requests', async () => {
    await add(bob.email);

    const removed = await Promise.all(Array.from({ length: 10 }, () => remove(bob.id)));

    const statuses = removed.map(({ status }) => status).sort((a, b) => a - b);
    expect(statuses).to.deep.equal([204, ...Array<number>(9).fill(404)]);
  });

  it('can sign in after they left the only project that they created', async () => {
    const cid = await newPerson(service);
    const members = `/v1/projects/${cid.project.id}/members`;
    await call(service, members, { cookie: cid.cookie, body: { email: bob.email, role: 'owner' } });
    await call(service, `${members}/${cid.id}`, { method: 'DELETE', cookie: cid.cookie });

    const again = await logIn(service, cid.email);

    expect(again.status).to.equal(200);
    const cookie = cookieOf(again);
    expect(await jsonOf<object>(call(service, '/v1/auth/me', { cookie }))).to.deep.include({ projects: [] });
    expect((await call(service, '/v1/projects', { cookie, body: { name: 'Next' } })).status).to.equal(201);
  });

  it('cannot be removed if they are the last owner or not a member', async () => {
    const statuses = [await remove(ann.id), await remove(bob.id), await remove('none')];

    expect(statuses.map(({ status }) => status)).to.deep.equal([409, 404, 404]);
  });
});
