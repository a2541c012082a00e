import { expect } from 'chai';
import { newEmail, newPerson, requestToken } from '../support/accounts.ts';
import { useSharedService } from '../support/shared-service.ts';
import { median } from '../bench/median.ts';

// In a separate file that runs alone, because it measures how long an answer takes.

/** Each request has its own address, and is not held back. */
const PAIRS = 200;

describe('POST /v1/auth/forgot-password and /v1/auth/request-verify-token, by the clock', () => {
  const service = useSharedService();

  it('take the same time for known and unknown e-mails', async () => {
    const { email } = await newPerson(service);
    const times: { known: number[]; unknown: number[] } = { known: [], unknown: [] };
    await requestToken(service, 'reset', email);

    for (let i = 0; i < PAIRS; i += 1) {
      // Alternating, so that what one leaves to do falls into the time of both.
      const whose = i % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const);
      for (const who of whose) {
        const asked = who === 'known' ? email : newEmail();
        const startMs = performance.now();
        await (await requestToken(service, 'reset', asked, `198.51.100.${i}`)).text();
        times[who].push(performance.now() - startMs);
      }
    }

    const [known, unknown] = [median(times.known), median(times.unknown)];
    expect(Math.abs(known - unknown), `medians ${known} and ${unknown} ms`).to.be.below(
      Math.max(known, unknown) / 4,
    );
  });

  it('limit a caller who never pauses to some requests a second', async () => {
    const endMs = performance.now() + 3000;
    let answered = 0;
    const loop = async () => {
      while (performance.now() < endMs) {
        await (await requestToken(service, 'verify', newEmail(), '198.51.101.1')).text();
        answered += 1;
      }
    };

    await Promise.all(Array.from({ length: 64 }, loop));

    // A burst of 100, then 50 a second, and the 64 that were in progress at the end.
    expect(answered).to.be.within(100, 100 + 3 * 50 + 64);
  });
});
