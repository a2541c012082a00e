import { expect } from 'chai';
import { FlushPace } from '../../../server/commit/flush-pace.ts';

describe('FlushPace', () => {
  it('does not wait at first, nor after a pause', () => {
    const pace = new FlushPace();
    const first = pace.plan(1000);
    pace.flushed({ rows: 64, queued: 64, tookMs: 10, nowMs: 2000 });

    expect([first, pace.plan(3000)]).to.deep.equal([
      { rows: 1, waitMs: 0 },
      { rows: 1, waitMs: 0 },
    ]);
  });

  it('expects the callers that were just answered and those that arrived during the flush', () => {
    const pace = new FlushPace();
    pace.flushed({ rows: 40, queued: 24, tookMs: 6, nowMs: 1000 });

    expect(pace.plan(1001).rows).to.equal(64);
  });

  it('never waits longer than a flush takes, and has an upper bound', () => {
    for (const tookMs of [1, 6, 10, 1000]) {
      const pace = new FlushPace();
      for (let i = 1; i <= 50; i += 1)
        pace.flushed({ rows: 100_000, queued: 100_000, tookMs, nowMs: i * tookMs });

      const { rows, waitMs } = pace.plan(50 * tookMs);

      expect(waitMs).to.be.within(0, Math.min(tookMs + 0.001, 50));
      expect(rows).to.be.below(100_000);
    }
  });

  it('averages the duration of flushes; the newest counts a fifth', () => {
    const pace = new FlushPace();
    const averages = [10, 20, 20].map((tookMs) => {
      pace.flushed({ rows: 1, queued: 0, tookMs, nowMs: 1000 });
      return Math.round(pace.flushMs * 100) / 100;
    });

    expect(averages).to.deep.equal([10, 12, 13.6]);
  });

  it('counts a pause from 50 ms on', () => {
    const pace = new FlushPace();
    pace.flushed({ rows: 8, queued: 0, tookMs: 6, nowMs: 1000 });

    expect([1050, 1051].map((nowMs) => pace.plan(nowMs).rows)).to.deep.equal([8, 1]);
  });

  it('begins one small flush in an interval, and at once with enough rows', () => {
    const pace = new FlushPace({ intervalMs: 250, rowsMin: 4000 });
    const first = pace.plan(900);
    pace.flushed({ rows: 10, queued: 0, tookMs: 20, nowMs: 1000 });

    expect([first, pace.plan(1000), pace.plan(1229), pace.plan(1230).waitMs]).to.deep.equal([
      { rows: 1, waitMs: 0 },
      { rows: 4000, waitMs: 230 },
      { rows: 4000, waitMs: 1 },
      0,
    ]);
  });

  it('does not wait for a second caller when there is one', () => {
    const pace = new FlushPace();
    pace.flushed({ rows: 1, queued: 0, tookMs: 6, nowMs: 1000 });

    expect(pace.plan(1001).rows).to.equal(1);
  });
});
