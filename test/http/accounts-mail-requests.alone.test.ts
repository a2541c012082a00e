import { expect } from 'chai';
import { newEmail, newPerson, requestToken, type TokenKind } from '../support/accounts.ts';
import { startTestService, type TestService } from '../support/service.ts';

const KINDS: TokenKind[] = ['verify', 'reset'];

describe('POST /v1/auth/forgot-password and /v1/auth/request-verify-token', function () {
  this.timeout(60_000);
  let service: TestService;
  before(async () => (service = await startTestService()));
  after(() => service.stop());

  it('answer 202 with the same body for known, unknown and impossible e-mails, and mail only the known', async () => {
    const { email } = await newPerson(service);
    const unknown = newEmail();
    const bodies = new Set<string>();

    for (const kind of KINDS) {
      for (const address of [email, email.toUpperCase(), unknown, 'nobody', '']) {
        const response = await requestToken(service, kind, address);
        expect(response.status).to.equal(202);
        bodies.add(await response.text());
      }
    }

    expect([...bodies]).to.deep.equal(['{"status":"accepted"}']);
    expect(service.output().split(`To: ${email}\n`)).to.have.length(5);
    expect(service.output()).not.to.contain(unknown);
  });

  it('take the same time for known and unknown e-mails', async () => {
    const { email } = await newPerson(service);
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    await requestToken(service, 'reset', email);

    for (let i = 0; i < 50; i += 1) {
      for (const [who, address] of [
        ['known', email],
        ['unknown', newEmail()],
      ] as const) {
        const startMs = performance.now();
        await (await requestToken(service, 'reset', address)).text();
        times[who].push(performance.now() - startMs);
      }
    }

    const [known, unknown] = [medianOf(times.known), medianOf(times.unknown)];
    expect(Math.abs(known - unknown), `medians ${known} and ${unknown} ms`).to.be.below(
      Math.max(known, unknown) / 4,
    );
  });

  it('answer 429 with Retry-After when one account is asked for without end', async () => {
    const email = newEmail();

    const statuses: number[] = [];
    for (let i = 0; i < 25; i += 1) {
      const some = Array.from({ length: 4 }, () => requestToken(service, 'verify', email));
      statuses.push(...(await Promise.all(some)).map(({ status }) => status));
    }
    const next = await requestToken(service, 'verify', email);

    expect(statuses).to.deep.equal(Array(100).fill(202));
    expect([next.status, Number(next.headers.get('Retry-After')) > 800]).to.deep.equal([429, true]);
  });
});

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
