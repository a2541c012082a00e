import { expect } from 'chai';
import { datedPath } from '../../../server/dashboard/src/api/relative-period.ts';
import { learnTime, serviceTime } from '../../../server/dashboard/src/api/service-clock.ts';
import {
  type Filters,
  filtersBut,
  filtersFrom,
  narrowed,
} from '../../../server/dashboard/src/app/filters.ts';
import {
  periodChanges,
  periodFrom,
  periodQuery,
  periodWords,
} from '../../../server/dashboard/src/app/period.ts';
import { barsPath, linePath } from '../../../server/dashboard/src/charts/paths.ts';
import { formatTime, showZone, zoneName } from '../../../server/dashboard/src/text/format.ts';
import { HOUR_MS } from '../../../server/durations.ts';

const of = (text: string) => periodFrom(new URLSearchParams(text));

describe('the period in an address', () => {
  it('is a window, or a range in UTC', () => {
    expect(of('')).to.deep.equal({ window: '24h' });
    expect(of('window=7d')).to.deep.equal({ window: '7d' });
    expect(of('window=2d')).to.deep.equal({ window: '24h' });
    const range = { from: '2026-03-03T09:00:00Z', to: '2026-03-03T10:30:00.500Z' };
    expect(of('from=2026-03-03T10:00:00%2B01:00&to=2026-03-03T10:30:00.5Z')).to.deep.equal(range);
    expect(periodWords({ last: '1h' })).to.equal('the last hour');
    const in2026 = Date.parse('2026-03-04T00:00:00Z');
    expect(periodWords(range, in2026)).to.equal('03 Mar 09:00 – 03 Mar 10:30');
    const other = { from: '2025-12-30T00:00:00Z', to: '2026-01-02T00:00:00Z' };
    expect(periodWords(other, in2026)).to.equal('30 Dec 2025 00:00 – 02 Jan 2026 00:00');
  });

  it('may end now, and is dated when it is asked for', () => {
    expect(of('last=15m')).to.deep.equal({ last: '15m' });
    expect(of('last=2h')).to.deep.equal({ window: '24h' });
    expect(periodWords({ last: '3d' })).to.equal('the last 3 days');
    expect(periodQuery(new URLSearchParams('agent=a&last=1h'))).to.equal('?last=1h');

    const { searchParams } = new URL(datedPath('/summary?agent=last%3D1h&last=1h'), 'http://localhost');
    const { agent, from = '', to = '', ...others } = Object.fromEntries(searchParams);
    expect([agent, others]).to.deep.equal(['last=1h', {}]);
    expect(Date.parse(to) - Date.parse(from)).to.equal(3_600_000);
    expect(Date.parse(to) - Date.now()).to.be.within(0, 60_000);
    expect(datedPath('/summary?window=7d')).to.equal('/summary?window=7d');
  });

  it('is the default if the range is invalid', () => {
    const wrong = ['from=2026-03-03T09:00:00Z', 'from=2026-03-03&to=2026-03-02', 'from=x&to=y', 'from=1&to='];
    for (const text of wrong) expect(of(text), text).to.deep.equal({ window: '24h' });
  });

  it('replaces one of the other kind, and is kept on other pages', () => {
    expect(periodChanges({ window: '7d' })).to.deep.equal({
      window: '7d',
      last: undefined,
      from: undefined,
      to: undefined,
    });
    expect(periodQuery(new URLSearchParams('agent=a&window=7d'))).to.equal('?window=7d');
    expect(periodQuery(new URLSearchParams('agent=a'))).to.equal('');
    // On the page of an agent these are numbers of versions.
    expect(periodQuery(new URLSearchParams('tab=versions&from=1&to=2'))).to.equal('');
  });
});

describe('the time of the service', () => {
  /** How far the service is ahead after an answer whose Date is that far ahead. */
  const learn = (aheadMs: number, askedMs = Date.now()) => {
    const told = new Date(Date.now() + aheadMs).toUTCString();
    learnTime(new Response('', { headers: { Date: told } }), askedMs);
    return serviceTime(0);
  };
  afterEach(() => learn(0));

  it('is learned from the dates of its answers, to the second', () => {
    expect(learn(-3 * HOUR_MS)).to.be.within(-3 * HOUR_MS - 1000, -3 * HOUR_MS + 1000);
    expect(learn(5000)).to.be.within(4000, 6000);
  });

  it('stays the same if an answer agrees with it or has no date', () => {
    const known = learn(3 * HOUR_MS);
    learnTime(new Response(''), Date.now());
    expect(learn(2.5 * HOUR_MS, Date.now() - HOUR_MS)).to.equal(known);
  });
});

describe('the filters in an address', () => {
  it('are repeated and negated, and may be empty', () => {
    const filters = filtersFrom(new URLSearchParams('agent=a&agent=b&not.role=&outcome=deny&window=7d&x=1'));
    expect(filters).to.deep.equal({ agent: ['a', 'b'], 'not.role': [''], outcome: ['deny'] });
    expect(filtersBut(filters, 'role')).to.deep.equal({ agent: ['a', 'b'], outcome: ['deny'] });
  });

  const narrowings: [Filters, Filters, Filters][] = [
    [{ agent: ['a'] }, { outcome: ['deny'] }, { agent: ['a'], outcome: ['deny'] }],
    [{ outcome: ['deny', 'allow'] }, { outcome: ['deny'] }, { outcome: ['deny'] }],
    [{ outcome: ['allow'] }, { outcome: ['deny'] }, { outcome: ['deny'], 'not.outcome': ['deny'] }],
    [{ 'not.outcome': ['deny'] }, { 'not.outcome': ['allow', 'deny'] }, { 'not.outcome': ['deny', 'allow'] }],
    [
      { agent: ['a', 'b'], 'not.role': [''] },
      { agent: ['b'], outcome: ['deny'] },
      { agent: ['b'], outcome: ['deny'], 'not.role': [''] },
    ],
  ];
  for (const [filters, only, both] of narrowings)
    it(`lets through what both ${JSON.stringify(filters)} and ${JSON.stringify(only)} do`, () => {
      expect(narrowed(filters, only)).to.deep.equal(both);
    });
});

describe('the zone of times', () => {
  afterEach(() => showZone('UTC'));

  it('is UTC, or that of the browser', () => {
    expect(zoneName()).to.equal('UTC');
    showZone('local');
    const local = new Date('2026-03-03T14:05:09Z');
    expect(formatTime(local.toISOString())).to.include(String(local.getHours()).padStart(2, '0'));
  });
});

describe('the paths of a chart', () => {
  it('stack bars and leave out empty ones', () => {
    const below = [0, 0];
    expect(barsPath([5, 0], { below, top: 10 })).to.equal('M0.1 1v-0.5h0.8v0.5z');
    expect(barsPath([5, 10], { below, top: 10 }))
      .to.include('M0.1 0.5')
      .and.to.include('M1.1 1v-1');
    expect(below).to.deep.equal([10, 10]);
  });

  it('interrupt a line where there is no value', () => {
    expect(linePath([1, 0, undefined, 1], 1)).to.equal('M0.5 0h.01L0.5 0L1.5 1M3.5 0h.01L3.5 0');
  });
});
