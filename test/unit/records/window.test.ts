import { expect } from 'chai';
import { readRange, readWindow, wholePartsOf } from '../../../server/records/window.ts';
import { DAY_MS } from '../../../server/durations.ts';

const NOW_MS = Date.parse('2026-03-04T05:06:07.089Z');

describe('readWindow', () => {
  const windows: [string | undefined, string, number, number][] = [
    [undefined, '24h', 1, 3600],
    ['24h', '24h', 1, 3600],
    ['7d', '7d', 7, 21_600],
    ['30d', '30d', 30, 86_400],
    ['90d', '90d', 90, 86_400],
  ];
  for (const [text, name, days, bucketSeconds] of windows) {
    it(`${text ?? 'nothing'} is ${days} days back from now, in buckets of ${bucketSeconds} s`, () => {
      const fromMs = NOW_MS - days * DAY_MS;
      const window = readWindow(text, NOW_MS);
      expect(window).to.deep.equal({
        name,
        fromMs,
        toMs: NOW_MS,
        sinceMs: fromMs,
        beforeMs: Date.parse('2100-01-01T00:00:00Z'),
        newestMs: NOW_MS,
        bucketSeconds,
      });
      expect(readRange({ window: text }, NOW_MS)).to.deep.equal(window);
    });
  }

  for (const text of ['', '24H', '24h ', '1d', '365d', '__proto__', 'constructor', 'toString']) {
    it(`"${text}" is window_invalid`, () => {
      const message = `must be one of 24h, 7d, 30d, 90d, not "${text}"`;
      expect(() => readWindow(text, NOW_MS))
        .to.throw(`window ${message}`)
        .that.deep.includes({ code: 'window_invalid', errors: [{ path: 'window', message }] });
    });
  }
});

describe('readRange', () => {
  const rangeOf = (from: string, to: string) => readRange({ from, to }, NOW_MS);

  it('has the edges that were given, in UTC and cut to milliseconds', () => {
    const { name, fromMs, toMs, sinceMs, beforeMs } = rangeOf(
      '2026-03-01T00:00:00.1239+02:00',
      '2026-03-02T00:00:00z',
    );
    const [from, to] = ['2026-02-28T22:00:00.123Z', '2026-03-02T00:00:00Z'].map(Date.parse);
    expect([name, fromMs, toMs, sinceMs, beforeMs]).to.deep.equal([null, from, to, from, to]);
  });

  it('reads nothing that is older than 90 days', () => {
    const { fromMs, sinceMs } = rangeOf('2025-11-01T00:00:00Z', '2026-01-30T00:00:00Z');
    expect([fromMs, sinceMs]).to.deep.equal([Date.parse('2025-11-01T00:00:00Z'), NOW_MS - 90 * DAY_MS]);
  });

  it('expects the newest records before its end, and none after now', () => {
    expect(rangeOf('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z').newestMs).to.equal(
      Date.parse('2026-03-01T23:59:59.999Z'),
    );
    expect(rangeOf('2026-03-01T00:00:00Z', '2026-04-02T00:00:00Z').newestMs).to.equal(NOW_MS);
  });

  const SIZES: [string, string, number][] = [
    ['2026-03-01T00:00:00.000Z', '2026-03-01T00:00:00.001Z', 60],
    ['2026-03-01T00:00:00Z', '2026-03-01T03:20:00Z', 60],
    ['2026-03-01T00:00:00Z', '2026-03-01T03:20:00.001Z', 300],
    ['2026-03-01T00:00:30Z', '2026-03-01T03:20:30Z', 300],
    ['2026-03-01T00:00:00Z', '2026-03-01T16:40:00Z', 300],
    ['2026-03-01T00:00:00Z', '2026-03-01T16:41:00Z', 900],
    ['2026-03-01T00:00:00Z', '2026-03-03T02:00:00Z', 900],
    ['2026-03-01T00:00:00Z', '2026-03-03T02:01:00Z', 3600],
    ['2026-03-01T00:00:00Z', '2026-03-09T08:00:00Z', 3600],
    ['2026-03-01T00:00:00Z', '2026-03-09T09:00:00Z', 21_600],
    ['2026-03-01T00:00:00Z', '2026-04-20T00:00:00Z', 21_600],
    ['2026-03-01T00:00:00Z', '2026-04-20T01:00:00Z', 86_400],
    ['2026-03-01T00:00:00Z', '2026-05-30T00:00:00Z', 86_400],
  ];
  for (const [from, to, seconds] of SIZES) {
    it(`from ${from} to ${to} has buckets of ${seconds} s`, () => {
      expect(rangeOf(from, to).bucketSeconds).to.equal(seconds);
    });
  }

  const [early, late] = ['2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z'];
  const WRONG: [Parameters<typeof readRange>[0], string, string][] = [
    [{ from: early }, 'to', 'is missing: from needs to'],
    [{ to: late }, 'from', 'is missing: to needs from'],
    [{ from: early, to: late, window: '24h' }, 'window', 'must not be given together with from and to'],
    [{ from: early, window: '24h' }, 'window', 'must not be given together with from and to'],
    [{ from: late, to: early }, 'to', 'must be later than from'],
    [{ from: early, to: early }, 'to', 'must be later than from'],
    [
      { from: '9999-12-31T12:00:00Z', to: '9999-12-31T23:59:59-00:01' },
      'to',
      'must be a time in the years 0000 to 9999 in UTC',
    ],
    [
      { from: '0000-01-01T00:00:00+01:00', to: '0000-01-02T00:00:00Z' },
      'from',
      'must be a time in the years 0000 to 9999 in UTC',
    ],
    [
      { from: '2026-01-01T00:00:00Z', to: '2026-04-01T00:00:00.001Z' },
      'to',
      'must be at most 90 days after from',
    ],
  ];
  for (const [asked, path, message] of WRONG) {
    it(`${JSON.stringify(asked)} is window_invalid`, () => {
      expect(() => readRange(asked, NOW_MS))
        .to.throw(`${path} ${message}`)
        .that.deep.includes({ code: 'window_invalid', errors: [{ path, message }] });
    });
  }

  it('may be 90 days long', () => {
    expect(rangeOf('2026-01-01T00:00:00Z', '2026-04-01T00:00:00Z').name).to.equal(null);
  });
});

describe('the whole parts of a range', () => {
  const partsOf = (from: string, to: string, seconds = 86_400) =>
    Object.values(wholePartsOf(readRange({ from, to }, NOW_MS), seconds));
  const none = [null, null, null, null];

  it('are its whole hours, and its whole days if there are more than a week of them', () => {
    expect(partsOf('2026-02-21T10:00:00.001Z', '2026-03-02T01:59:59Z')).to.deep.equal([
      '2026-02-21 11:00:00',
      '2026-03-02 01:00:00',
      '2026-02-22',
      '2026-03-02',
    ]);
    expect(partsOf('2026-02-22T00:00:00Z', '2026-03-01T00:00:00Z')).to.deep.equal([
      '2026-02-22 00:00:00',
      '2026-03-01 00:00:00',
      null,
      null,
    ]);
  });

  it('are none within two hours', () => {
    expect(partsOf('2026-03-01T10:00:00.001Z', '2026-03-01T11:59:59.999Z')).to.deep.equal(none);
  });

  it('are not longer than a bucket', () => {
    const [from, to] = ['2026-02-21T00:00:00Z', '2026-03-04T00:00:00Z'];
    expect(partsOf(from, to, 900)).to.deep.equal(none);
    expect(partsOf(from, to, 21_600).slice(2)).to.deep.equal([null, null]);
    expect(partsOf(from, to, 86_400).slice(2)).to.deep.equal(['2026-02-21', '2026-03-04']);
  });

  it('of a window have no end, and are hours alone within a week', () => {
    expect(Object.values(wholePartsOf(readWindow('7d', NOW_MS), 86_400))).to.deep.equal([
      '2026-02-25 06:00:00',
      '2100-01-01 00:00:00',
      null,
      null,
    ]);
    expect(Object.values(wholePartsOf(readWindow('30d', NOW_MS), 86_400)).slice(2)).to.deep.equal([
      '2026-02-03',
      '2100-01-01',
    ]);
  });
});
