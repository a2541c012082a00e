import { expect } from 'chai';
import { labelledBuckets, shifted, ticksOf } from '../../../server/dashboard/src/charts/scale.ts';
import {
  countChange,
  isAlarming,
  shareChange,
  thanWords,
} from '../../../server/dashboard/src/pages/overview/change.ts';

const HOUR_SECONDS = 3600;
const counts = (total: number, deny: number) => ({ total, allow: total - deny, deny, needs_approval: 0 });

/** Buckets without gaps from `start` on. */
function bucketed(start: string, bucket_seconds: number, count: number) {
  const startMs = Date.parse(start);
  const buckets = Array.from({ length: count }, (_, index) => ({
    start: new Date(startMs + index * bucket_seconds * 1000).toISOString(),
  }));
  return { bucket_seconds, buckets };
}

describe('the period before', () => {
  const shiftMs = 24 * HOUR_SECONDS * 1000;

  it('is summed up in the buckets of this one', () => {
    const quarters = bucketed('2026-03-02T00:00:00Z', 900, 96);
    const onto = bucketed('2026-03-03T00:00:00Z', HOUR_SECONDS, 24);
    const values = quarters.buckets.map((_, index) => index);
    const sums = shifted(quarters, values, { onto, shiftMs });
    expect(sums.slice(0, 2)).to.deep.equal([0 + 1 + 2 + 3, 4 + 5 + 6 + 7]);
    expect(sums.reduce((a, b) => a + b, 0)).to.equal((95 * 96) / 2);
  });

  it('counts a bucket that crosses an edge by its share, and nothing outside', () => {
    const hours = bucketed('2026-03-02T00:30:00Z', HOUR_SECONDS, 3);
    const onto = bucketed('2026-03-03T00:00:00Z', HOUR_SECONDS, 2);
    expect(shifted(hours, [10, 20, 40], { onto, shiftMs })).to.deep.equal([5, 15]);
    expect(shifted(hours, [10, 20, 40], { onto: { ...onto, buckets: [] }, shiftMs })).to.deep.equal([]);
  });

  it('has no value where it does not reach', () => {
    const hours = bucketed('2026-03-02T00:00:00Z', HOUR_SECONDS, 2);
    const onto = bucketed('2026-03-03T00:00:00Z', HOUR_SECONDS, 24);
    expect(shifted(hours, [10, 0], { onto, shiftMs })).to.deep.equal([10, 0]);
  });

  it('is described as more, less, about the same, or not at all', () => {
    expect(countChange(150, 100)).to.deep.equal({ text: '50% more', direction: 'up' });
    expect(countChange(50, 100)).to.deep.equal({ text: '50% less', direction: 'down' });
    expect(countChange(1002, 1000)).to.deep.equal({ text: 'about the same', direction: 'same' });
    expect(countChange(3, 10_000)).to.deep.equal({ text: '>99% less', direction: 'down' });
    expect(countChange(0, 10_000)).to.deep.equal({ text: '100% less', direction: 'down' });
    expect(countChange(9, 0)).to.equal(undefined);
    const words = [150, 100, 50].map((now) => thanWords(countChange(now, 100), 'a week before'));
    expect(words).to.deep.equal(['than a week before', 'as a week before', 'than a week before']);
    expect(thanWords(undefined, 'a week before')).to.equal('none a week before');
    expect(shareChange(counts(100, 9), counts(100, 4))).to.deep.equal({
      text: '5.0 points more',
      direction: 'up',
    });
    expect(shareChange(counts(0, 0), counts(100, 4))).to.equal(undefined);
  });

  it('raises an alarm only for denials that are far more frequent, among enough decisions', () => {
    expect(isAlarming(counts(1000, 60), counts(1000, 40))).to.equal(false);
    expect(isAlarming(counts(1000, 61), counts(1000, 40))).to.equal(true);
    expect(isAlarming(counts(1000, 9), counts(1000, 0))).to.equal(false);
    expect(isAlarming(counts(40, 40), counts(1000, 0))).to.equal(false);
  });
});

describe('the axes of a chart', () => {
  it('have few round ticks that exceed the highest value', () => {
    expect(ticksOf(0, 1)).to.deep.equal([0, 1]);
    expect(ticksOf(7, 1)).to.deep.equal([0, 2, 4, 6, 8]);
    expect(ticksOf(1234, 1)).to.deep.equal([0, 500, 1000, 1500]);
    expect(ticksOf(0.031, 0.005)).to.deep.equal([0, 0.01, 0.02, 0.03, 0.04]);
  });

  it('name few buckets, at round times', () => {
    const starts = (count: number, seconds: number) =>
      Array.from({ length: count }, (_, at) => (at + 3) * seconds * 1000);
    expect(labelledBuckets(starts(28, 21_600), 21_600)).to.deep.equal([1, 5, 9, 13, 17, 21, 25]);
    expect(labelledBuckets(starts(3, 60), 60)).to.deep.equal([0, 1, 2]);
    expect(labelledBuckets(starts(29, 21_600), 21_600).length).to.equal(7);
    expect(labelledBuckets(starts(200, 900), 900).length).to.be.within(3, 8);
  });
});
