import { expect } from 'chai';
import {
  call,
  cookieOf,
  jsonOf,
  logIn,
  mailedToken,
  newEmail,
  newPerson,
  newVerifiedPerson,
  PASSWORD,
  type Person,
  useToken,
} from '../support/accounts.ts';
import { ingest, issue, type Key, keysPath } from '../support/keys.ts';
import { useSharedService } from '../support/shared-service.ts';

const NEW_PASSWORD = 'the holder of the address';

describe('an account that a stranger registered on the address of somebody else', () => {
  const service = useSharedService();

  /** The stranger prepares ways back in: a session, a key, a webhook, and an owner with a verified address of their own. */
  async function registerOn(email: string) {
    const stranger = await newPerson(service, email);
    const mate = await newPerson(service);
    await useToken(service, 'verify', await mailedToken(service, 'verify', mate.email));
    const members = `/v1/projects/${stranger.project.id}/members`;
    await call(service, members, { cookie: stranger.cookie, body: { email: mate.email, role: 'owner' } });
    const { key } = await issue(service, stranger);
    const url = 'https://stranger.example/hook';
    await call(service, webhook(stranger), { method: 'PUT', cookie: stranger.cookie, body: { url } });
    const statusOf = async ({ cookie }: Pick<Person, 'cookie'>) =>
      (await call(service, members, { cookie })).status;
    const ways = async () => [await statusOf(stranger), await statusOf(mate), await ingest(service, key)];
    return { stranger, mate, ways };
  }
  const webhook = ({ project }: Person) => `/v1/projects/${project.id}/alerts/webhook`;
  /** What the owner of the address finds in the project. */
  const seenIn = async ({ project }: Person, cookie: string) => {
    const read = <T>(what: string) =>
      jsonOf<T>(call(service, `/v1/projects/${project.id}/${what}`, { cookie }));
    const { items } = await read<{ items: { account_id: string; role: string }[] }>('members');
    const settings = await read<{ webhook: unknown }>('alerts/settings');
    return { members: items.map(({ account_id, role }) => [account_id, role]), webhook: settings.webhook };
  };

  const reset = async (email: string) =>
    useToken(service, 'reset', await mailedToken(service, 'reset', email), NEW_PASSWORD);

  it('loses its sessions, keys, webhook and members when the owner of the address resets the password', async () => {
    const email = newEmail();
    const { stranger, ways } = await registerOn(email);
    await issue(service, stranger);
    const before = await ways();

    const status = (await reset(email)).status;

    expect([before, status, await ways()]).to.deep.equal([[200, 200, 202], 200, [401, 403, 401]]);
    const cookie = cookieOf(await logIn(service, email, NEW_PASSWORD));
    expect(await seenIn(stranger, cookie)).to.deep.equal({
      members: [[stranger.id, 'owner']],
      webhook: null,
    });
    const { items } = await jsonOf<{ items: Key[] }>(call(service, keysPath(stranger), { cookie }));
    const times = new Set(items.map(({ revoked_at }) => revoked_at));
    expect([items.length, times.size], 'very many keys would delay a reset').to.deep.equal([2, 1]);
  });

  it('gets a project back that the stranger left to another owner', async () => {
    const email = newEmail();
    const { stranger, mate, ways } = await registerOn(email);
    const path = `/v1/projects/${stranger.project.id}`;
    const own = `${path}/members/${stranger.id}`;
    const left = await call(service, own, { method: 'DELETE', cookie: stranger.cookie });

    const { status } = await reset(email);

    expect([left.status, status, await ways()]).to.deep.equal([204, 200, [401, 403, 401]]);
    const cookie = cookieOf(await logIn(service, email, NEW_PASSWORD));
    expect((await seenIn(stranger, cookie)).members).to.deep.equal([[stranger.id, 'owner']]);
    const { items } = await jsonOf<{ items: { event: string; detail: object }[] }>(
      call(service, `${path}/activity?limit=6`, { cookie }),
    );
    expect(items.slice(-4).map(({ event }) => event)).to.deep.equal([
      'webhook_removed',
      'key_revoked',
      'member_removed',
      'member_added',
    ]);
    expect(items.slice(-2).map(({ detail }) => detail)).to.deep.equal([
      { account_id: mate.id },
      { account_id: stranger.id, role: 'owner' },
    ]);
  });

  it('is warned about these losses in the mail of the first reset, and not in the next one', async () => {
    const email = newEmail();
    await newPerson(service, email);
    const warning = async () => {
      const token = await mailedToken(service, 'reset', email);
      await useToken(service, 'reset', token, NEW_PASSWORD);
      return new RegExp(`${token}\\n\\n(.*)`).exec(service.output())?.[1]?.includes('revokes the keys');
    };

    expect([await warning(), await warning()]).to.deep.equal([true, false]);
  });

  it('keeps what its owner creates later, at the next reset', async () => {
    const email = newEmail();
    const { stranger } = await registerOn(email);
    await reset(email);
    const cookie = cookieOf(await logIn(service, email, NEW_PASSWORD));
    const { key } = await issue(service, { cookie, project: stranger.project });

    await reset(email);

    expect(await ingest(service, key)).to.equal(202);
  });

  it('is not verified by a password change while signed in', async () => {
    const email = newEmail();
    const { stranger, ways } = await registerOn(email);
    const body = { password: PASSWORD, new_password: 'changed by the stranger' };
    await call(service, '/v1/auth/change-password', { cookie: stranger.cookie, body });

    await reset(email);

    expect(await ways()).to.deep.equal([401, 403, 401]);
  });

  it('is lost by a link that was mailed before the stranger changed the password', async () => {
    const email = newEmail();
    const { stranger, ways } = await registerOn(email);
    const token = await mailedToken(service, 'reset', email);
    const body = { password: PASSWORD, new_password: 'changed by the stranger' };
    const changed = await call(service, '/v1/auth/change-password', { cookie: stranger.cookie, body });

    const uses = [
      await useToken(service, 'reset', token, NEW_PASSWORD),
      await useToken(service, 'reset', token, NEW_PASSWORD),
    ];

    expect([changed, ...uses].map(({ status }) => status)).to.deep.equal([204, 200, 400]);
    expect(await ways()).to.deep.equal([401, 403, 401]);
  });

  it('keeps its reset links no longer than its password, once its address is verified', async () => {
    const person = await newVerifiedPerson(service);
    const token = await mailedToken(service, 'reset', person.email);
    const body = { password: PASSWORD, new_password: NEW_PASSWORD };
    await call(service, '/v1/auth/change-password', { cookie: person.cookie, body });

    expect((await useToken(service, 'reset', token)).status).to.equal(400);
  });

  it('keeps its keys and members at a reset when its address was verified', async () => {
    const email = newEmail();
    const { ways } = await registerOn(email);
    await useToken(service, 'verify', await mailedToken(service, 'verify', email));

    await reset(email);

    expect(await ways()).to.deep.equal([401, 200, 202]);
  });
});
