import { expect } from 'chai';
import { etagOf, resigned, type SignedRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { DAY_MS } from '../../../server/durations.ts';

describe('a bundle that expires', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, logger, clock, resolveByKey, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, v1, logger, clock, resolveByKey, faultOf } = world));

  /** The service serves version 1, signed to expire then. */
  async function serveUntil(expiresAtMs: number): Promise<void> {
    const expires_at = new Date(expiresAtMs).toISOString();
    const record: SignedRecord = await resigned(v1, { expires_at }, signer);
    mock.on(AGENT_ROUTE, ({ headers }) =>
      headers['if-none-match'] === etagOf(v1)
        ? { status: 304 }
        : { json: record, headers: { ETag: etagOf(v1) } },
    );
  }

  it('is installed before its time, and refused from then on and without a clock', async () => {
    await serveUntil(DAY_MS);
    clock.nowMs = DAY_MS - 1;
    expect((await resolveByKey()).origin).to.equal('bundle');
    for (const nowMs of [DAY_MS, NaN]) {
      clock.nowMs = nowMs;
      expect((await faultOf({ key })).code).to.equal('bundle_expired');
    }
  });

  it('is asked for without a condition in the second half of its time, and its policy stays the same object', async () => {
    await serveUntil(2 * DAY_MS);
    const source = await resolveByKey();
    const { policy } = source;
    clock.nowMs = DAY_MS - 1;
    await source.refresh();
    clock.nowMs = DAY_MS;
    await serveUntil(3 * DAY_MS);
    await source.refresh();
    clock.nowMs = 2 * DAY_MS - 1;
    await source.refresh();
    clock.nowMs = 2 * DAY_MS;
    await source.refresh();

    const conditions = mock.seen(AGENT_ROUTE).map(({ headers }) => headers['if-none-match'] !== undefined);
    expect(conditions).to.deep.equal([false, true, false, true, false]);
    expect(source.policy).to.equal(policy);
    expect(logger.lines).to.deep.equal([]);
  });

  it('stays in force when the service does not sign it again, with a warning at every refresh', async () => {
    await serveUntil(DAY_MS);
    const source = await resolveByKey();
    const { policy } = source;
    clock.nowMs = DAY_MS;
    await source.refresh();
    mock.on(AGENT_ROUTE, { status: 503 });
    await source.refresh();

    expect(source.policy).to.equal(policy);
    expect(logger.lines.map(({ context }) => context?.['expired_at'])).to.deep.equal([
      '1970-01-02T00:00:00.000Z',
      '1970-01-02T00:00:00.000Z',
    ]);
  });
});
