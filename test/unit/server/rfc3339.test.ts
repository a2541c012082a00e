import { expect } from 'chai';
import fc from 'fast-check';
import { parseRfc3339 } from '../../../server/rfc3339.ts';
import { MINUTE_MS } from '../../../server/durations.ts';

describe('parseRfc3339', () => {
  const good: [string, string][] = [
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.1Z', '2026-01-02T03:04:05.100Z'],
    ['2026-01-02T03:04:05.9999999Z', '2026-01-02T03:04:05.999Z'],
    ['2026-01-02T03:04:05.00099999999999999999Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+02:30', '2026-01-02T00:34:05.000Z'],
    ['2026-01-02T03:04:05-23:59', '2026-01-03T03:03:05.000Z'],
    ['2026-01-01T00:00:00-00:00', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29T23:59:59.999Z', '2024-02-29T23:59:59.999Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, utc] of good) {
    it(`${text} is ${utc}`, () => {
      expect(parseRfc3339(text)).to.equal(Date.parse(utc));
    });
  }

  const bad = [
    '',
    '2026-01-02',
    '2026-01-02T03:04:05',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04Z',
    '2026-01-02T03:04:60Z',
    '2016-12-31T23:59:60Z',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:60:00Z',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05+2:00',
    '2026-01-02T03:04:05+0200',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+23:60',
    '2026-01-02T03:04:05−02:00',
    '2026-00-02T03:04:05Z',
    '2026-13-02T03:04:05Z',
    '2026-01-00T03:04:05Z',
    '2026-01-32T03:04:05Z',
    '2026-02-29T03:04:05Z',
    '1900-02-29T03:04:05Z',
    '2026-04-31T03:04:05Z',
    '+002026-01-02T03:04:05Z',
    '-2026-01-02T03:04:05Z',
    '26-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z\n',
    '\n2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z2026-01-02T03:04:05Z',
    '２026-01-02T03:04:05Z',
  ];
  for (const text of bad) {
    it(`${JSON.stringify(text)} is invalid`, () => {
      expect(parseRfc3339(text)).to.equal(undefined);
    });
  }

  it('reads common times, and refuses lookalikes', () => {
    const last = '2026-01-02T03:04:05.678Z';
    const wrong = [
      '24:00:00.000',
      '03:60:00.000',
      '03:04:60.000',
      '03:0a:05.000',
      '03:04:05.0 0',
      '03-04:05.000',
      '03:04-05.000',
      '03:04:05,000',
      ' 3:04:05.000',
      '03:04:05.00/',
    ];
    for (const time of wrong) {
      expect(parseRfc3339(last)).to.equal(Date.parse(last));
      expect(parseRfc3339(`2026-01-02T${time}Z`), time).to.equal(undefined);
    }
    expect(parseRfc3339('2026-01-02 03:04:05.678Z')).to.equal(undefined);
    expect(parseRfc3339('2026-01-02t03:04:05.678Z')).to.equal(Date.parse(last));
  });

  it('reads each time in the common form as in any other, whether it exists or not', () => {
    const year = fc.oneof(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 100 }));
    const fields = fc.tuple(
      year,
      ...[13, 32, 24, 60, 60, 999].map((max) => fc.oneof(fc.integer({ min: 0, max }), fc.constant(max))),
    );
    fc.assert(
      fc.property(fields, (numbers) => {
        const widths = [4, 2, 2, 2, 2, 2, 3];
        const [y, mo, d, h, mi, s, ms] = numbers.map((one, at) => String(one).padStart(widths[at] ?? 0, '0'));
        const text = `${y}-${mo}-${d}T${h}:${mi}:${s}.${ms}`;

        expect(parseRfc3339(`${text}Z`), text).to.equal(parseRfc3339(`${text}0Z`));
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with Date on every instant in every zone', () => {
    const instant = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9998-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, fc.integer({ min: -1439, max: 1439 }), (date, minutes) => {
        expect(parseRfc3339(date.toISOString())).to.equal(date.getTime());
        const local = new Date(date.getTime() + minutes * MINUTE_MS).toISOString().slice(0, -1);
        const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) =>
          String(part).padStart(2, '0'),
        );

        expect(parseRfc3339(`${local}${minutes < 0 ? '-' : '+'}${hours}:${rest}`)).to.equal(date.getTime());
      }),
    );
  });
});
