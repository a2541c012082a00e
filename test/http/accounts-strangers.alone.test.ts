import { expect } from 'chai';
import { call, logIn, newEmail, newPerson, PASSWORD } from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('while 90 callers register without pause', () => {
  const service = useSharedService();

  const registerFrom = (address: string, email: string) => {
    const headers = { 'X-Forwarded-For': address };
    return call(service, '/v1/auth/register', { headers, body: { email, password: PASSWORD } });
  };

  it('right logins succeed', async () => {
    const people = await Promise.all(Array.from({ length: 8 }, () => newPerson(service)));
    let isOver = false;
    const keepRegistering = async () => {
      while (!isOver) await (await registerFrom('203.0.113.1', newEmail())).text();
    };
    const callers = Array.from({ length: 90 }, keepRegistering);

    const logins = await Promise.all(people.map(({ email }) => logIn(service, email)));
    isOver = true;
    await Promise.all(callers);

    expect(logins.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
  });

  it('refused registrations do not use up the limit of their address', async () => {
    const { email } = await newPerson(service);
    const refused = await Promise.all(Array.from({ length: 600 }, () => registerFrom('203.0.113.2', email)));

    const next = await registerFrom('203.0.113.2', newEmail());

    expect(refused.filter(({ status }) => ![409, 503].includes(status))).to.deep.equal([]);
    expect(next.status).to.equal(201);
  });
});
