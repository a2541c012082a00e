import { expect } from 'chai';
import {
  call,
  cookieOf,
  jsonOf,
  logIn,
  mailedToken,
  newEmail,
  newPerson,
  type Person,
  useToken,
} from '../support/accounts.ts';
import { ingest, issue } from '../support/keys.ts';
import { useSharedService } from '../support/shared-service.ts';

const NEW_PASSWORD = 'the holder of the address';

describe('an account that a stranger registered on the address of somebody else', () => {
  const service = useSharedService();

  /** The stranger prepares ways back in: a session, a key, and a member with a verified address of their own. */
  async function registerOn(email: string) {
    const stranger = await newPerson(service, email);
    const mate = await newPerson(service);
    await useToken(service, 'verify', await mailedToken(service, 'verify', mate.email));
    const members = `/v1/projects/${stranger.project.id}/members`;
    await call(service, members, { cookie: stranger.cookie, body: { email: mate.email, role: 'owner' } });
    const { key } = await issue(service, stranger);
    const statusOf = async ({ cookie }: Pick<Person, 'cookie'>) =>
      (await call(service, members, { cookie })).status;
    const ways = async () => [await statusOf(stranger), await statusOf(mate), await ingest(service, key)];
    return { stranger, ways };
  }

  const reset = async (email: string) =>
    useToken(service, 'reset', await mailedToken(service, 'reset', email), NEW_PASSWORD);

  it('loses its sessions, keys and members when the holder of the address resets the password', async () => {
    const email = newEmail();
    const { stranger, ways } = await registerOn(email);
    const before = await ways();

    const status = (await reset(email)).status;

    expect([before, status, await ways()]).to.deep.equal([[200, 200, 202], 200, [401, 403, 401]]);
    const cookie = cookieOf(await logIn(service, email, NEW_PASSWORD));
    const { items } = await jsonOf<{ items: { account_id: string }[] }>(
      call(service, `/v1/projects/${stranger.project.id}/members`, { cookie }),
    );
    expect(items.map(({ account_id }) => account_id)).to.deep.equal([stranger.id]);
  });

  it('is warned of these losses in the mail of the first reset, and not in the next one', async () => {
    const email = newEmail();
    await newPerson(service, email);
    const warning = async () => {
      const token = await mailedToken(service, 'reset', email);
      await useToken(service, 'reset', token, NEW_PASSWORD);
      return new RegExp(`${token}\\n\\n(.*)`).exec(service.output())?.[1]?.includes('revokes the keys');
    };

    expect([await warning(), await warning()]).to.deep.equal([true, false]);
  });

  it('keeps what its holder makes after that, at the next reset', async () => {
    const email = newEmail();
    const { stranger } = await registerOn(email);
    await reset(email);
    const cookie = cookieOf(await logIn(service, email, NEW_PASSWORD));
    const { key } = await issue(service, { cookie, project: stranger.project });

    await reset(email);

    expect(await ingest(service, key)).to.equal(202);
  });

  it('is proved by a password change of nobody who is only signed in', async () => {
    const email = newEmail();
    const { stranger, ways } = await registerOn(email);
    const body = { password: 'correct horse battery', new_password: 'changed by the stranger' };
    await call(service, '/v1/auth/change-password', { cookie: stranger.cookie, body });

    await reset(email);

    expect(await ways()).to.deep.equal([401, 403, 401]);
  });

  it('keeps its keys and members at a reset when its address was verified', async () => {
    const email = newEmail();
    const { ways } = await registerOn(email);
    await useToken(service, 'verify', await mailedToken(service, 'verify', email));

    await reset(email);

    expect(await ways()).to.deep.equal([401, 200, 202]);
  });
});
