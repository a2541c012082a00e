import { mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { readTimeseries } from '../../../server/records/counts.ts';
import { createReads, ReadDays, type Writers } from '../../../server/records/days.ts';
import type { RunRead } from '../../../server/store/read-pool.ts';
import { NO_FILTERS } from '../../../server/records/filters.ts';
import { readLlmUsage } from '../../../server/records/llm-usage.ts';
import { verifyReads } from '../../../server/records/verify.ts';
import { readRange, readWindow } from '../../../server/records/window.ts';

const NOW_MS = Date.parse('2026-03-10T12:00:00.000Z');
const WINDOW = readWindow('24h', NOW_MS);
/** The days of the window, plus two for clocks that are ahead. */
const DAYS = ['2026-03-09', '2026-03-10', '2026-03-11', '2026-03-12'];

type Listed = { day: string; may_repeat: number; parts: string[]; number: number };

let passed: ReturnType<typeof mock.method> | undefined;
const restoreTime = () => passed?.mock.restore();

/** A store that returns preset parts and preset counts of repeated rows. Time is preset as well, while the real clock stands still. */
function fakeStore(writers: Writers) {
  const store = { listed: [] as Listed[], repeats: 0, lists: 0, checks: [] as string[], passedMs: 0 };
  restoreTime();
  passed = mock.method(performance, 'now', () => store.passedMs);
  const runRead = ((sql: string, params: Record<string, unknown>) => {
    if (!sql.includes('AS repeats')) {
      store.lists += 1;
      return Promise.resolve(structuredClone(store.listed));
    }
    store.checks.push(String(params['days']));
    // Later than the read that it came from.
    return sleep(5).then(() => [{ repeats: store.repeats }]);
  }) as RunRead;
  const days = new ReadDays({ table: 'decisions', writers, runRead, now: () => NOW_MS });
  const ask = async () => {
    const answer = await days.read(WINDOW, (finalDays) => Promise.resolve(finalDays));
    await days.settled();
    return answer;
  };
  return { store, days, ask };
}

const part = (day: string, ...parts: string[]): Listed => ({
  day,
  may_repeat: parts.length > 1 ? 1 : 0,
  parts,
  number: 50_000 * parts.length,
});

describe('the days that are read with FINAL', () => {
  afterEach(restoreTime);

  it('are all of them on a cluster', async () => {
    expect(await fakeStore('cluster').ask()).to.deep.equal(DAYS);
  });

  it('are those in more than one part, with several writers', async () => {
    const { store, ask } = fakeStore('several');
    store.listed = [part('2026-03-09', 'a'), part('2026-03-10', 'b', 'c'), part('2026-01-01', 'd', 'e')];

    expect(await ask()).to.deep.equal(['2026-03-10']);
  });

  it('are all of them in a second attempt when another day got a part in the meantime', async () => {
    for (const change of [
      (store: { listed: Listed[] }) => (store.listed = [part('2026-03-09', 'a'), part('2026-03-10', 'x')]),
      (store: { listed: Listed[] }) => store.listed.push(part('2026-03-11', 'new')),
    ]) {
      const { store, days } = fakeStore('several');
      store.listed = [part('2026-03-09', 'a')];
      const tries: string[][] = [];

      await days.read(WINDOW, (finalDays) => {
        tries.push(finalDays);
        if (tries.length === 1) change(store);
        return Promise.resolve();
      });

      expect(tries).to.deep.equal([[], DAYS]);
    }
  });

  it('stay the same when only days read with FINAL got parts', async () => {
    const { store, days } = fakeStore('several');
    store.listed = [part('2026-03-10', 'a', 'b')];
    const tries: string[][] = [];

    await days.read(WINDOW, (finalDays) => {
      tries.push(finalDays);
      store.listed = [part('2026-03-10', 'a', 'b', 'c')];
      return Promise.resolve();
    });

    expect(tries).to.deep.equal([['2026-03-10']]);
  });

  it('of a sole writer are checked once, in the background, and then trusted whatever parts are added', async () => {
    const { store, ask } = fakeStore('sole');
    store.listed = [part('2026-03-09', 'a'), part('2026-03-10', 'b', 'c')];

    expect(await ask()).to.deep.equal(['2026-03-10']);
    expect(store.checks).to.deep.equal(['2026-03-10']);
    store.listed = [part('2026-03-09', 'a', 'x'), part('2026-03-10', 'b', 'c', 'd')];
    store.passedMs += 10_000;
    expect(await ask()).to.deep.equal([]);
    expect([store.lists, store.checks.length]).to.deep.equal([1, 1]);
  });

  it('of a sole writer are not those of a range either, after a read of another one', async () => {
    const { store, days, ask } = fakeStore('sole');
    store.listed = [part('2026-01-05', 'a'), part('2026-01-06', 'b', 'c')];
    await ask();
    const range = readRange({ from: '2026-01-04T00:00:00Z', to: '2026-01-07T00:00:00Z' }, NOW_MS);
    const work = (finalDays: string[]) => Promise.resolve(finalDays);

    // The list is a moment old, so what it lacks is not certain.
    expect(await days.read(range, work)).to.deep.equal(['2026-01-04', '2026-01-06']);
    store.passedMs += 2000;
    await days.read(range, work);
    await days.settled();
    await ask();
    expect(await days.read(range, work)).to.deep.equal([]);
  });

  it('of a sole writer stay when rows are found twice, until a merge has fixed them', async () => {
    const { store, ask } = fakeStore('sole');
    store.listed = [part('2026-03-10', 'b', 'c')];
    store.repeats = 1;

    expect(await ask()).to.deep.equal(['2026-03-10']);
    store.passedMs += 2000;
    expect(await ask()).to.deep.equal(['2026-03-10']);
    expect(store.checks.length).to.equal(1);
    store.listed = [part('2026-03-10', 'bc')];
    store.passedMs += 2000;
    await ask();
    expect(await ask()).to.deep.equal([]);
  });
});

describe('few rows', () => {
  afterEach(restoreTime);

  const CASES: [Record<string, number>, boolean][] = [
    [{ '2026-03-08': 1_000_000, '2026-03-09': 300_000, '2026-03-10': 99_999 }, true],
    [{ '2026-03-09': 300_000, '2026-03-10': 100_000 }, false],
    [{ '2026-03-11': 249_999 }, true],
    [{ '2026-03-11': 250_000 }, false],
    [{}, true],
  ];
  for (const [numbers, isFew] of CASES)
    it(`are ${isFew ? '' : 'not '}the 24 hours from noon to noon with ${JSON.stringify(numbers)} rows`, async () => {
      const { store, days } = fakeStore('sole');
      store.listed = Object.entries(numbers).map(([day, number]) => ({ ...part(day, 'a'), number }));

      expect(await days.hasFewRows(WINDOW)).to.equal(isFew);
    });

  it('are counted again after five seconds, and once for all simultaneous requests', async () => {
    const { store, days } = fakeStore('several');
    store.listed = [part('2026-03-09', 'a')];
    await Promise.all([days.hasFewRows(WINDOW), days.hasFewRows(WINDOW)]);
    store.passedMs += 4999;
    await days.hasFewRows(WINDOW);
    expect(store.lists).to.equal(1);

    store.passedMs += 1;
    await days.hasFewRows(WINDOW);
    expect(store.lists).to.equal(2);
  });

  it('are not counted on a cluster, where no node can list all parts', async () => {
    const { store, days } = fakeStore('cluster');
    expect([await days.hasFewRows(WINDOW), store.lists]).to.deep.equal([false, 0]);
  });

  for (const [what, number, hoursFrom, fewRows] of [
    ['are read as they are', 249_999, null, 1],
    [
      'are not, if they are more: whole hours are read from projections',
      250_000,
      '2026-03-09 12:00:00',
      null,
    ],
  ] as const)
    it(what, async () => {
      const asked: Record<string, unknown>[] = [];
      const runRead = ((sql: string, params: Record<string, unknown>) => {
        if (sql.includes('system.parts')) return Promise.resolve([{ ...part('2026-03-10', 'a'), number }]);
        asked.push(params);
        return Promise.resolve([]);
      }) as RunRead;
      const runReadBytes = () => Promise.resolve(Buffer.alloc(0));
      const reads = createReads({ runRead, runReadBytes, writers: 'sole', now: () => NOW_MS });
      const { signal } = new AbortController();
      const scope = { projectId: 'p', window: WINDOW, filters: NO_FILTERS, signal };

      await readTimeseries(reads, scope);
      await readLlmUsage(reads, scope);

      expect(
        asked
          .filter(({ since }) => since !== undefined)
          .map(({ hours_from, few_rows }) => [hours_from, few_rows]),
      ).to.deep.equal([
        [hoursFrom, fewRows],
        [hoursFrom, fewRows],
      ]);
    });
});

describe('gate verify', () => {
  it('reports where projections differ from the rows, even if there are few', async () => {
    const counts = { total: 2, allow: 2, deny: 0, needs_approval: 0 };
    const hours = new Set<unknown>();
    const runRead = ((sql: string, params: Record<string, unknown>) => {
      if (params['hours_from'] !== undefined && sql.includes('facet')) hours.add(params['hours_from']);
      const isCheck = String(params['final_days']).includes('2026-03-09');
      if (sql.includes('facet') && !sql.includes('llm_invocations'))
        return Promise.resolve([{ facet: '', name: '', ...counts, total: isCheck ? 2 : 3 }]);
      return Promise.resolve([]);
    }) as RunRead;
    const options = {
      runRead,
      runReadBytes: () => Promise.resolve(Buffer.alloc(0)),
      writers: 'sole' as const,
      now: () => NOW_MS,
    };
    const { signal } = new AbortController();
    const scope = { projectId: 'p', window: readWindow('24h', NOW_MS), filters: NO_FILTERS, signal };

    expect(await verifyReads(options, scope)).to.deep.equal([
      { what: 'summary totals', fast: { ...counts, total: 3 }, checked: counts },
    ]);
    expect([...hours]).to.deep.equal(['2026-03-09 12:00:00']);
  });
});
