import { expect } from 'chai';
import { firstDayOf, readWindow } from '../../../server/records/window.ts';

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

describe('firstDayOf', () => {
  const firstDays: [string, string | null][] = [
    ['24h', null],
    ['7d', '2026-02-25'],
    ['30d', '2026-02-02'],
    ['90d', '2025-12-04'],
  ];
  for (const [name, day] of firstDays) {
    it(`of ${name} is ${day}`, () => {
      expect(firstDayOf(readWindow(name, NOW_MS))).to.equal(day);
    });
  }
});
