import { expect } from 'chai';
import fc from 'fast-check';
import { clickhouseTime, rfc3339FromClickhouse } from '../../../server/store/time.ts';
import { MINUTE_MS } from '../../../server/durations.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4);

describe('A time as the store reads it', () => {
  const times: [number, string][] = [
    [0, '1970-01-01 00:00:00.000'],
    [-1, '1969-12-31 23:59:59.999'],
    [NOW_MS, '2026-01-02 03:04:00.000'],
    [NOW_MS + 1, '2026-01-02 03:04:00.001'],
    [NOW_MS + 59_999, '2026-01-02 03:04:59.999'],
    [NOW_MS + MINUTE_MS, '2026-01-02 03:05:00.000'],
  ];
  for (const [ms, text] of times) {
    it(`${ms} is ${text}`, () => {
      expect(clickhouseTime(ms)).to.equal(text);
    });
  }

  it('survives a round trip, in whatever order minutes occur', () => {
    const ms = fc.oneof(
      fc.integer({ min: NOW_MS - 2 * MINUTE_MS, max: NOW_MS + 2 * MINUTE_MS }),
      fc.integer({ min: Date.UTC(0, 0), max: Date.UTC(9999, 11) }),
    );
    fc.assert(
      fc.property(fc.array(ms), (all) => {
        for (const each of all)
          expect(Date.parse(rfc3339FromClickhouse(clickhouseTime(each)))).to.equal(each);
      }),
    );
  });

  it('is cut to the millisecond', () => {
    expect(clickhouseTime(NOW_MS + 1.9)).to.equal('2026-01-02 03:04:00.001');
  });

  it('rejects a text that is not a time', () => {
    expect(() => clickhouseTime(Number.NaN)).to.throw(RangeError);
  });
});
