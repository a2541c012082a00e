import { expect } from 'chai';
import {
  call,
  codeOf,
  cookieOf,
  jsonOf,
  logIn,
  newPerson,
  PASSWORD,
  type Person,
} from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';

type Item = {
  id: string;
  created_at: string;
  last_seen_at: string;
  address: string;
  user_agent: string;
  is_current: boolean;
};

const PATH = '/v1/auth/sessions';

describe('the own sessions', () => {
  const service = useSharedService();

  const list = async (cookie: string) =>
    (await jsonOf<{ items: Item[] }>(call(service, PATH, { cookie }))).items;
  const statusOf = async (cookie: string) => (await call(service, '/v1/auth/me', { cookie })).status;
  const end = (cookie: string, id = '') =>
    call(service, id === '' ? PATH : `${PATH}/${id}`, { method: 'DELETE', cookie });
  const logInAs = async ({ email }: Person, userAgent: string) => {
    const headers = { 'User-Agent': userAgent, 'X-Forwarded-For': '192.0.2.7' };
    return cookieOf(await call(service, '/v1/auth/login', { headers, body: { email, password: PASSWORD } }));
  };

  it('are listed with where and when they were opened, the last used first', async () => {
    const ann = await newPerson(service);
    await newPerson(service);
    await logInAs(ann, 'A phone');

    const items = await list(ann.cookie);

    expect(
      items.map(({ address, user_agent, is_current }) => [address, user_agent, is_current]),
    ).to.deep.equal([
      ['192.0.2.7', 'A phone', false],
      ['127.0.0.1', 'node', true],
    ]);
    for (const { id, created_at, last_seen_at } of items) {
      expect(id).to.match(/^[0-9a-f]{32}$/);
      expect(Date.parse(created_at)).to.be.within(Date.now() - 60_000, Date.now());
      expect(last_seen_at).to.equal(created_at);
    }
  });

  it('can be ended one by one, and the caller stays signed in', async () => {
    const ann = await newPerson(service);
    const other = await logInAs(ann, 'A phone');
    const id = (await list(ann.cookie)).find(({ is_current }) => !is_current)?.id;

    const statuses = [(await end(ann.cookie, id)).status, await statusOf(other), await statusOf(ann.cookie)];

    expect(statuses).to.deep.equal([204, 401, 200]);
    expect(await list(ann.cookie)).to.have.length(1);
    expect((await end(ann.cookie, id)).status).to.equal(404);
  });

  it('can all be ended except the own', async () => {
    const ann = await newPerson(service);
    const others = [await logInAs(ann, 'A phone'), await logInAs(ann, 'A tablet')];

    const { status } = await end(ann.cookie);

    expect([status, await Promise.all(others.map(statusOf)), await statusOf(ann.cookie)]).to.deep.equal([
      204,
      [401, 401],
      200,
    ]);
  });

  it('of other accounts can be neither seen nor ended', async () => {
    const [ann, bob] = [await newPerson(service), await newPerson(service)];
    const [ofBob] = await list(bob.cookie);

    const { status } = await end(ann.cookie, ofBob?.id);
    await end(ann.cookie);

    expect([status, await statusOf(bob.cookie)]).to.deep.equal([404, 200]);
  });

  it('end with a change of the password, except the own', async () => {
    const ann = await newPerson(service);
    const other = await logInAs(ann, 'A phone');
    const change = (password: string) =>
      call(service, '/v1/auth/change-password', {
        cookie: ann.cookie,
        body: { password, new_password: 'a new password for ann' },
      });

    const wrong = await change('not the password');
    const before = await statusOf(other);
    const right = await change(PASSWORD);

    expect([wrong.status, await codeOf(wrong), before]).to.deep.equal([403, 'forbidden', 200]);
    expect([right.status, await statusOf(other), await statusOf(ann.cookie)]).to.deep.equal([204, 401, 200]);
    const logins = [
      await logIn(service, ann.email),
      await logIn(service, ann.email, 'a new password for ann'),
    ];
    expect(logins.map(({ status }) => status)).to.deep.equal([401, 200]);
  });

  it('let nobody guess the password without limit', async () => {
    const ann = await newPerson(service);
    const body = { password: 'not the password', new_password: 'a new password for ann' };
    const headers = { 'X-Forwarded-For': '192.0.2.8' };
    const statuses: number[] = [];

    for (let i = 0; i < 11; i += 1)
      statuses.push(
        (await call(service, '/v1/auth/change-password', { cookie: ann.cookie, body, headers })).status,
      );

    expect(statuses).to.deep.equal([...Array<number>(10).fill(403), 429]);
  });
});
