import { expect } from 'chai';
import { bucketLabel, tickLabels } from '../../../server/dashboard/src/charts/bucket-label.ts';
import { labelledBuckets, ticksOf } from '../../../server/dashboard/src/charts/scale.ts';
import { DAY_MS, HOUR_MS } from '../../../server/durations.ts';
import {
  countText,
  formatAgo,
  formatBytes,
  formatCompact,
  formatCompactCost,
  formatCost,
  formatDuration,
  formatShare,
  formatTime,
  showZone,
  zoneName,
} from '../../../server/dashboard/src/text/format.ts';

describe('numbers and times on display', () => {
  it('never show a share as none or all when it is not', () => {
    const shares = [[0, 0], [0, 9], [1, 100_000], [24, 1000], [240, 1000], [1200, 1204], [99_999, 100_000], [5, 5]] as const; // prettier-ignore
    const texts = ['–', '0%', '<0.1%', '2.4%', '24%', '99.7%', '>99.9%', '100%'];
    expect(shares.map(([part, whole]) => formatShare(part, whole))).to.deep.equal(texts);
  });

  it('use the singular for one', () => {
    const texts = [countText(0, 'sender'), countText(1, 'sender'), countText(1234, 'entry', 'entries')];
    expect(texts).to.deep.equal(['0 senders', '1 sender', '1,234 entries']);
  });

  it('are in UTC', () => {
    expect(formatTime('2026-03-03T14:05:09.123Z')).to.equal('03 Mar 14:05:09');
    expect(formatTime('not a time')).to.equal('not a time');
    const startsMs = [Date.parse('2026-03-03T00:00:00Z'), Date.parse('2026-03-03T07:00:00Z')];
    expect(tickLabels(startsMs, 3600)).to.deep.equal(['03 Mar', '07:00']);
  });

  const from = '2026-03-01T14:37:00.000Z';
  const to = '2026-03-03T14:30:00.000Z';
  const buckets: [string, string, number, boolean, RegExp][] = [
    ['that is whole', '2026-03-02T14:00:00.000Z', 3600, true, /02 Mar,? 14:00–15:00$/],
    ['that is still growing', '2026-03-03T14:00:00.000Z', 3600, true, /03 Mar,? 14:00–15:00, so far$/],
    ['that the end of the period cuts', '2026-03-03T14:00:00.000Z', 3600, false, /03 Mar,? 14:00–14:30$/],
    ['that its beginning cuts', '2026-03-01T14:00:00.000Z', 3600, true, /01 Mar,? 14:37–15:00$/],
    ['of a whole day', '2026-03-02T00:00:00.000Z', 86_400, true, /02 Mar$/],
    ['of a part of a day', '2026-03-01T00:00:00.000Z', 86_400, true, /01 Mar,? 14:37–00:00$/],
    ['of today', '2026-03-03T00:00:00.000Z', 86_400, true, /03 Mar, so far$/],
  ];
  for (const [what, start, bucketSeconds, endsNow, label] of buckets)
    it(`name the time of a bucket ${what}`, () => {
      expect(bucketLabel(start, { from, to, endsNow, bucketSeconds }, Date.parse(to))).to.match(label);
    });

  it('name each year on the axis of a chart over a new year', () => {
    const ticksAt = (bucketSeconds: number, times: string[]) =>
      tickLabels(
        times.map((time) => Date.parse(`${time}:00Z`)),
        bucketSeconds,
      );
    expect(ticksAt(86_400, ['2026-12-22T00:00', '2026-12-27T00:00', '2027-01-01T00:00', '2027-01-06T00:00']))
      .to.deep.equal(['22 Dec 2026', '27 Dec', '01 Jan 2027', '06 Jan']); // prettier-ignore
    expect(ticksAt(3600, ['2026-12-31T20:00', '2027-01-01T00:00', '2027-01-01T04:00']))
      .to.deep.equal(['20:00', '01 Jan 2027', '04:00']); // prettier-ignore
  });

  it('name the year of a bucket if the period began in another one', () => {
    const labelOf = (bucketSeconds: number) =>
      bucketLabel(from, { from, to, endsNow: false, bucketSeconds }, Date.parse('2027-01-02T00:00:00Z'));
    expect([900, (2 * DAY_MS) / 1000].map(labelOf)).to.deep.equal([
      'Sun 01 Mar 2026 14:37–14:52',
      'Sun 01 Mar 2026 14:37–Tue 03 Mar 2026 14:30',
    ]);
  });

  it('are short', () => {
    const nowMs = Date.parse('2026-03-03T12:00:00Z');
    const ago = (seconds: number) => formatAgo(new Date(nowMs - seconds * 1000).toISOString(), nowMs);
    const agos = ['now', '40 s ago', '1 min ago', '2 h ago', '2 d ago'];
    expect([2, 40, 90, 7200, 200_000].map(ago)).to.deep.equal(agos);
    const bytes = ['999 B', '2.0 KiB', '47 KiB', '4.8 MiB'];
    expect([999, 2048, 48_213, 5_000_000].map(formatBytes)).to.deep.equal(bytes);
    expect([9999, 12_345].map(formatCompact)).to.deep.equal(['9,999', '12.3K']);
    expect([0, 999.5, 2500, 2_345_678.9].map((usd) => formatCompactCost(usd))).to.deep.equal(['$0.00', '$999.50', '$2.5K', '$2.3M']); // prettier-ignore
    expect([null, 0, 0.004, 1234.5].map(formatCost)).to.deep.equal(['–', '$0.00', '<$0.01', '$1,234.50']);
  });

  it('show how long something took', () => {
    const texts = [0, 350, 2345, 40_000, 61_000, 3 * 3_600_000].map(formatDuration);
    expect(texts).to.deep.equal(['0 ms', '350 ms', '2.3 s', '40 s', '1 min', '3 h']);
  });
});

describe('the ticks of an axis', () => {
  it('are multiples of the smallest step, so that none is rounded on display', () => {
    expect(ticksOf(0.09, 0.01).map(formatCost)).to.deep.equal(['$0.00', '$0.05', '$0.10']);
    expect(ticksOf(10, 1)).to.deep.equal([0, 5, 10]);
    expect(ticksOf(100, 1)).to.deep.equal([0, 25, 50, 75, 100]);
    expect(ticksOf(0.1, 0.005).map((tick) => tick.toFixed(3))).to.deep.equal(['0.000', '0.025', '0.050', '0.075', '0.100']); // prettier-ignore
    expect(ticksOf(0, 0.01)).to.deep.equal([0, 0.01]);
  });
});

describe('times in the zone of the browser', () => {
  const given = process.env['TZ'];
  afterEach(() => {
    if (given === undefined) delete process.env['TZ'];
    else process.env['TZ'] = given;
    showZone('UTC');
  });

  const showIn = (timeZone: string) => {
    process.env['TZ'] = timeZone;
    showZone('local');
  };

  for (const timeZone of ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'UTC'])
    for (const [days, hours] of [
      [7, 6],
      [5, 1],
      [30, 24],
    ] as const)
      it(`give a chart of ${days} days in buckets of ${hours} hours the dates of ${timeZone}`, () => {
        showIn(timeZone);
        // The clocks change on 8 March in New York and on 29 March in Berlin.
        for (const from of ['2026-03-05T00:00:00Z', '2026-03-26T00:00:00Z']) {
          const starts = Array.from(
            { length: (days * 24) / hours },
            (_, index) => Date.parse(from) + index * hours * HOUR_MS,
          );
          const ticks = labelledBuckets(starts, hours * 3600).map((at) => starts[at] ?? 0);
          const labels = tickLabels(ticks, hours * 3600).map((label, at) => ({
            label,
            day: new Date(ticks[at] ?? 0).getDate(),
          }));
          const dates = labels.filter(({ label }) => /^\d\d [A-Z][a-z]{2}$/.test(label));
          expect(dates.length)
            .to.be.within(days / 5 - 1, 8)
            .and.to.be.greaterThan(2);
          expect(dates.map(({ label }) => Number(label.slice(0, 2)))).to.deep.equal(
            dates.map(({ day }) => day),
          );
        }
      });

  it('name both ends of a UTC day', () => {
    showIn('Europe/Berlin');
    const frame = { from: '2026-07-01T00:00:00Z', to: '2026-07-31T00:00:00Z', endsNow: false };
    const label = bucketLabel(
      '2026-07-14T00:00:00.000Z',
      { ...frame, bucketSeconds: DAY_MS / 1000 },
      Date.parse(frame.to),
    );
    expect(label).to.equal('Tue 14 Jul 02:00–Wed 15 Jul 02:00');
  });

  it('give the buckets around a clock change different names', () => {
    showIn('Europe/Berlin');
    const frame = { from: '2026-10-24T22:00:00Z', to: '2026-10-25T23:00:00Z', endsNow: false };
    const labelAt = (time: string) =>
      bucketLabel(`2026-10-25T${time}:00.000Z`, { ...frame, bucketSeconds: 900 }, Date.parse(frame.to));
    expect(['00:45', '01:00', '02:00', '06:00'].map(labelAt)).to.deep.equal([
      'Sun 25 Oct 02:45–02:00 CEST/CET',
      'Sun 25 Oct 02:00–02:15 CET',
      'Sun 25 Oct 03:00–03:15',
      'Sun 25 Oct 07:00–07:15',
    ]);
    expect(labelAt('00:00')).to.equal('Sun 25 Oct 02:00–02:15 CEST');
  });

  it('name the zone of the moment, or of both sides of a change of the clocks', () => {
    showIn('Europe/Berlin');
    const [winter, summer] = ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z'];
    expect([zoneName(winter), zoneName(summer)]).to.deep.equal(['CET', 'CEST']);
    expect(zoneName(winter, undefined, winter, summer)).to.equal('CET/CEST');
    expect(zoneName(null)).to.equal(zoneName(new Date().toISOString()));
  });
});
