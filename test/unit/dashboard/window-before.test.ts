import { expect } from 'chai';
import type { Timeseries } from '../../../server/dashboard/src/api/types.ts';
import {
  countChange,
  shareChange,
  windowBefore,
} from '../../../server/dashboard/src/pages/overview/window-before.ts';

const HOUR_MS = 3_600_000;
const counts = (total: number, deny: number) => ({ total, allow: total - deny, deny, needs_approval: 0 });

/** Buckets of six hours with 60 decisions each, the last one open. */
function sevenDays(to: string): Timeseries {
  const lastMs = Math.floor(Date.parse(to) / (6 * HOUR_MS)) * 6 * HOUR_MS;
  const buckets = Array.from({ length: 28 }, (_, index) => ({
    start: new Date(lastMs - (27 - index) * 6 * HOUR_MS).toISOString(),
    ...counts(60, 6),
  }));
  return { project_id: 'p', window: '7d', from: '', to, bucket_seconds: 6 * 3600, buckets };
}

describe('the window before', () => {
  it('is the sum of the buckets in it', () => {
    expect(windowBefore(sevenDays('2026-03-03T12:00:00.000Z'), 24)).to.deep.equal(counts(240, 24));
  });

  it('counts a bucket that lies across an end by its share', () => {
    const { total, deny } = windowBefore(sevenDays('2026-03-03T13:30:00.000Z'), 24);
    expect(total).to.be.closeTo(240, 1e-9);
    expect(deny).to.be.closeTo(24, 1e-9);
  });

  it('is told as more, less, about the same, or not at all', () => {
    expect(countChange(150, 100)).to.deep.equal({ text: '50% more', direction: 'up' });
    expect(countChange(50, 100)).to.deep.equal({ text: '50% less', direction: 'down' });
    expect(countChange(100.2, 100)).to.deep.equal({ text: 'about the same', direction: 'same' });
    expect(countChange(9, 0)).to.equal(undefined);
    expect(shareChange(counts(100, 9), counts(100, 4))).to.deep.equal({
      text: '5.0 points more',
      direction: 'up',
    });
    expect(shareChange(counts(0, 0), counts(100, 4))).to.equal(undefined);
  });
});
