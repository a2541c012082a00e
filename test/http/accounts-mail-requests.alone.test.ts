import { expect } from 'chai';
import { call, newEmail, newPerson, requestToken } from '../support/accounts.ts';
import { startTestService, type TestService } from '../support/service.ts';

// In a file of its own that runs alone: it measures how long an answer takes.

/** Each comes from an address of its own, whose requests are not held. */
const PAIRS = 200;

describe('POST /v1/auth/forgot-password and /v1/auth/request-verify-token, by the clock', () => {
  let service: TestService;
  before(async () => (service = await startTestService({ env: { GATE_TRUSTED_PROXIES: '127.0.0.0/8' } })));
  after(() => service.stop());

  it('take the same time for known and unknown e-mails', async () => {
    const { email } = await newPerson(service);
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    await requestToken(service, 'reset', email);

    for (let i = 0; i < PAIRS; i += 1) {
      // In turns, so that what one leaves to do falls into the time of both.
      const whose = i % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const who of whose) {
        const body = { email: who === 'known' ? email : newEmail() };
        const headers = { 'X-Forwarded-For': `198.51.100.${i}` };
        const startMs = performance.now();
        await (await call(service, '/v1/auth/forgot-password', { body, headers })).text();
        times[who].push(performance.now() - startMs);
      }
    }

    const [known, unknown] = [medianOf(times.known), medianOf(times.unknown)];
    expect(Math.abs(known - unknown), `medians ${known} and ${unknown} ms`).to.be.below(
      Math.max(known, unknown) / 4,
    );
  });

  it('hold a caller who never pauses to some requests a second', async () => {
    const other = await startTestService();
    const endMs = performance.now() + 3000;
    let answered = 0;
    const loop = async () => {
      while (performance.now() < endMs) {
        await (await requestToken(other, 'verify', newEmail())).text();
        answered += 1;
      }
    };

    await Promise.all(Array.from({ length: 64 }, loop));
    await other.stop();

    // A burst of 100, then 50 a second, and the 64 that were under way at the end.
    expect(answered).to.be.within(100, 100 + 3 * 50 + 64);
  });
});

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
