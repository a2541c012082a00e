import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readDecisions, readSummary, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { askJson, type Timeseries } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

const BUCKET_SECONDS = { '24h': 3600, '7d': 21_600, '30d': 86_400, '90d': 86_400 };
const WINDOW_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '90d': 90 * DAY_MS };

describe('the time series', () => {
  const service = useSharedService();
  const agesMs = [
    -4 * 60_000,
    0,
    HOUR_MS,
    5 * HOUR_MS,
    // Until then, the suite has ended.
    DAY_MS - 10 * 60_000,
    DAY_MS + 30_000,
    8 * DAY_MS,
    89 * DAY_MS,
  ];
  const outcomes = ['allow', 'deny', 'needs_approval'];
  before(async () => {
    for (const [index, ageMs] of agesMs.entries()) {
      const outcome = outcomes[index % 3];
      await sendDecision(service, decisionEvent({ occurred_at: timeFromNow(-ageMs), outcome }));
    }
  });

  it('has exactly the documented keys', async () => {
    const answer = await askJson<Timeseries>(service, 'timeseries');

    const { from, to, buckets, ...rest } = answer;
    expect(rest).to.deep.equal({ project_id: service.project_id, window: '24h', bucket_seconds: 3600 });
    expect(Date.parse(to) - Date.parse(from)).to.equal(DAY_MS);
    expect(Object.keys(answer)).to.deep.equal([
      'project_id',
      'window',
      'from',
      'to',
      'bucket_seconds',
      'buckets',
    ]);
    for (const bucket of buckets)
      expect(Object.keys(bucket)).to.deep.equal(['start', 'total', 'allow', 'deny', 'needs_approval']);
  });

  for (const [window, seconds] of Object.entries(BUCKET_SECONDS)) {
    it(`over ${window} has buckets of ${seconds} s, aligned, oldest first, without gaps`, async () => {
      const { bucket_seconds, buckets, from, to } = await askJson<Timeseries>(service, 'timeseries', {
        query: { window },
      });

      const starts = buckets.map(({ start }) => Date.parse(start));
      const first = Math.floor(Date.parse(from) / seconds / 1000) * seconds * 1000;
      expect(bucket_seconds).to.equal(seconds);
      expect(starts).to.deep.equal(starts.map((_, index) => first + index * seconds * 1000));
      expect(starts.at(-1)).to.be.within(Date.parse(to) - seconds * 1000, Date.parse(to) + 300_000);
    });

    it(`over ${window} sums to the totals of the summary and to the total of the decisions`, async () => {
      const { buckets } = await askJson<Timeseries>(service, 'timeseries', { query: { window } });
      const { totals } = await readSummary(service, { window });
      const { total } = await readDecisions(service, { window });

      const sum = (key: keyof typeof totals) => buckets.reduce((all, bucket) => all + bucket[key], 0);
      const sums = { total: sum('total'), allow: sum('allow'), deny: sum('deny') };
      expect({ ...sums, needs_approval: sum('needs_approval') }).to.deep.equal(totals);
      const inside = agesMs.filter((ageMs) => ageMs <= WINDOW_MS[window as '24h']);
      expect([totals.total, total]).to.deep.equal([inside.length, inside.length]);
    });
  }

  it('puts each event into the bucket of its time', async () => {
    const { buckets } = await askJson<Timeseries>(service, 'timeseries', { query: { window: '90d' } });

    const filled = buckets.filter(({ total }) => total > 0).map(({ start }) => start);
    const expected = agesMs.map((ageMs) =>
      new Date(Math.floor((Date.now() - ageMs) / DAY_MS) * DAY_MS).toISOString(),
    );
    expect(filled).to.deep.equal([...new Set(expected)].sort());
  });

  it('of an unknown project is zeros', async () => {
    const { buckets } = await askJson<Timeseries>(service, 'timeseries', { projectId: randomUUID() });

    expect(buckets.length).to.be.within(24, 25);
    expect(buckets.every(({ total, allow, deny }) => total + allow + deny === 0)).to.equal(true);
  });
});
