import { expect } from 'chai';
import { readWindow } from '../../../server/records/window.ts';

const DAY_MS = 86_400_000;
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
      expect(readWindow(text, NOW_MS)).to.deep.equal({
        name,
        fromMs: NOW_MS - days * DAY_MS,
        toMs: NOW_MS,
        bucketSeconds,
      });
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
