import { expect } from 'chai';
import { finishedBuckets, totalsOf } from '../../../server/dashboard/src/api/series.ts';
import type { Timeseries } from '../../../server/dashboard/src/api/types.ts';
import { HOUR_MS } from '../../../server/durations.ts';

const startAt = (hour: number) => `2026-03-03T${hour}:00:00.000Z`;
const bucket = (hour: number) => ({ start: startAt(hour), total: 3, allow: 1, deny: 2, needs_approval: 0 });
const seriesTo = (to: string) =>
  ({ bucket_seconds: 3600, to, buckets: [10, 11, 12].map(bucket) }) as Timeseries;

describe('a time series', () => {
  it('has as finished buckets those that end within its period', () => {
    const starts = (to: string) => finishedBuckets(seriesTo(to)).map(({ start }) => start);
    expect(starts('2026-03-03T12:59:59.999Z')).to.deep.equal([10, 11].map(startAt));
    expect(starts('2026-03-03T13:00:00.000Z')).to.deep.equal([10, 11, 12].map(startAt));
  });

  it('has no finished bucket that ends later than now', () => {
    const [over = '', growing = ''] = [-1.5, -0.5].map((hours) =>
      new Date(Date.now() + hours * HOUR_MS).toISOString(),
    );
    const buckets = [over, growing].map((start) => ({ ...bucket(10), start }));
    const series = { ...seriesTo('2999-01-01T00:00:00.000Z'), buckets };
    expect(finishedBuckets(series).map(({ start }) => start)).to.deep.equal([over]);
  });

  it('sums up all of its buckets', () => {
    expect(totalsOf(seriesTo(startAt(12)))).to.deep.equal({ total: 9, allow: 3, deny: 6, needs_approval: 0 });
  });
});
