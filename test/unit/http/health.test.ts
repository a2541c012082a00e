import { expect } from 'chai';
import { healthEndpoints } from '../../../server/http/health.ts';
import { createMetrics } from '../../../server/metrics.ts';

describe('GET /readyz and the gauge of the identity filters', () => {
  const cases: [string, Record<string, boolean> | undefined, string | null, Record<string, number>][] = [
    ['there are none', undefined, null, {}],
    ['one is filled', { decisions: true, usage: false }, 'incomplete', { decisions: 1, usage: 0 }],
    ['both are complete', { decisions: true, usage: true }, 'complete', { decisions: 1, usage: 1 }],
    ['one has grown too large', { decisions: false, usage: true }, 'incomplete', { decisions: 0, usage: 1 }],
  ];
  let filters: Record<string, boolean> | undefined;
  const deps = { isStoreUp: () => Promise.resolve(true), identityFilters: () => filters };
  const metrics = createMetrics(deps);
  const ready = healthEndpoints({ ...deps, metrics }).find(({ path }) => path === '/readyz');

  for (const [when, now, state, values] of cases)
    it(`agree when ${when}`, async () => {
      filters = now;

      expect(await ready?.handle({} as never)).to.deep.equal({ status: 'ready', identity_filter: state });
      const gauge = await metrics.identityFilterComplete.get();
      expect(
        Object.fromEntries(gauge.values.map(({ labels, value }) => [labels.stream, value])),
      ).to.deep.equal(values);
    });
});
