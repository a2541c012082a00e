import { expect } from 'chai';
import { ApiError } from '../../../server/dashboard/src/api/api-error.ts';
import type { DecisionRecord, DecisionsPage } from '../../../server/dashboard/src/api/types.ts';
import { DecisionFeed } from '../../../server/dashboard/src/pages/decisions/decision-feed.ts';

/** A service with records that can be added to; its cursor is the number of the last record given. */
class Records {
  #records: DecisionRecord[] = [];
  calls = 0;
  isDown = false;
  /** The one cursor that is not answered. */
  brokenCursor: string | undefined;

  constructor(...numbers: number[]) {
    this.add(...numbers);
  }

  /** Records with these numbers, which are their times, too. */
  add(...numbers: number[]): void {
    this.#records.push(...numbers.map(recordOf));
    this.#records.sort((a, b) => (a.occurred_at < b.occurred_at ? 1 : -1));
  }

  /** All records before this number have left the period. */
  expire(number: number): void {
    this.#records = this.#records.filter(({ event_id }) => Number(event_id) >= number);
  }

  readonly countBetween = (after: string, until: string): Promise<number> =>
    Promise.resolve(
      this.#records.filter(({ occurred_at }) => occurred_at > after && occurred_at <= until).length,
    );

  readonly fetchPage = (cursor: string | undefined, limit: number): Promise<DecisionsPage> => {
    this.calls += 1;
    if (this.isDown || (cursor !== undefined && cursor === this.brokenCursor))
      return Promise.reject(new ApiError({ status: 503, code: 'store_unavailable', detail: '' }));
    const rest =
      cursor === undefined ? this.#records : this.#records.filter(({ event_id }) => event_id < cursor);
    const items = rest.slice(0, limit).map((record) => ({ ...record }));
    const last = rest.length > limit ? items.at(-1) : undefined;
    return Promise.resolve({
      project_id: 'p',
      window: '24h',
      total: this.#records.length,
      limit,
      offset: 0,
      items,
      next_cursor: last?.event_id ?? null,
    });
  };
}

function recordOf(number: number): DecisionRecord {
  const padded = String(number).padStart(8, '0');
  return {
    event_id: padded,
    occurred_at: `2026-01-01T00:00:00.${padded}Z`,
    arguments: { number },
    violations: [],
  } as unknown as DecisionRecord;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

async function feedOf(records: Records, pages: number): Promise<DecisionFeed> {
  const feed = new DecisionFeed(records.fetchPage, records.countBetween, () => undefined);
  for (let page = 0; page < pages; page += 1) await feed.loadMore();
  return feed;
}

const numbersOf = (feed: DecisionFeed) => feed.state.rows.map(({ event_id }) => Number(event_id));

describe('the feed of decisions', () => {
  it('loads page by page to the end, each row once', async () => {
    const records = new Records(...range(0, 1350));
    const feed = await feedOf(records, 5);
    expect(numbersOf(feed)).to.deep.equal(range(0, 1350).toReversed());
    expect(feed.state).to.include({ total: 1350, isAtEnd: true, isLoading: false });
    expect(records.calls).to.equal(4);
  });

  it('asks once when asked twice at the same time', async () => {
    const records = new Records(...range(0, 900));
    const feed = new DecisionFeed(records.fetchPage, records.countBetween, () => undefined);
    await Promise.all([feed.loadMore(), feed.loadMore()]);
    expect(feed.state.rows.length).to.equal(100);
  });

  it('inserts new rows by their time, including late ones', async () => {
    const records = new Records(10, 20, 30);
    const feed = await feedOf(records, 1);
    records.add(40, 25);
    expect(await feed.catchUp()).to.equal(2);
    expect(numbersOf(feed)).to.deep.equal([40, 30, 25, 20, 10]);
    expect(feed.state.total).to.equal(5);
    expect(await feed.catchUp()).to.equal(0);
  });

  it('inserts a late row below the first page, even while new ones arrive and others leave', async () => {
    const records = new Records(...range(0, 1500).filter((number) => number !== 1110));
    const feed = await feedOf(records, 2);
    records.add(1110, 1500);
    records.expire(1);
    expect(await feed.catchUp()).to.equal(2);
    expect(numbersOf(feed).slice(0, 601)).to.deep.equal(range(900, 1501).toReversed());
    expect(feed.state.total).to.equal(1500);
    expect(await feed.catchUp()).to.equal(0);
  });

  it('reads one page when no row came late', async () => {
    const records = new Records(...range(0, 1500));
    const feed = await feedOf(records, 2);
    const { calls } = records;
    records.add(1500);
    records.expire(5);
    expect(await feed.catchUp()).to.equal(1);
    expect(records.calls - calls).to.equal(1);
  });

  for (const [length, left] of [
    [50, 7],
    [700, 7],
    [700, 650],
  ] as const)
    it(`drops the oldest ${left} of ${length} rows when they have left the period`, async () => {
      const records = new Records(...range(0, length));
      const feed = await feedOf(records, 3);
      records.expire(left);
      expect(await feed.catchUp()).to.equal(0);
      expect(numbersOf(feed)).to.deep.equal(range(left, length).toReversed());
      records.add(0);
      await feed.catchUp();
      expect(numbersOf(feed)).to.deep.equal([...range(left, length).toReversed(), 0]);
    });

  it('starts again when so much is new that there would be a gap', async () => {
    const records = new Records(...range(0, 50));
    const feed = await feedOf(records, 1);
    records.add(...range(100, 3100));
    await feed.catchUp();
    expect(numbersOf(feed)).to.deep.equal(range(1000, 3100).toReversed());
    await feed.loadMore();
    expect(numbersOf(feed)).to.deep.equal(range(500, 3100).toReversed());
  });

  it('keeps its rows when the service goes away, and continues when it is back', async () => {
    const records = new Records(...range(0, 300));
    const feed = await feedOf(records, 1);
    records.isDown = true;
    await feed.loadMore();
    expect(feed.state.error?.code).to.equal('store_unavailable');
    expect(feed.state.rows.length).to.equal(100);
    records.isDown = false;
    await feed.loadMore();
    expect(feed.state).to.deep.include({ error: undefined, isAtEnd: true });
    expect(feed.state.rows.length).to.equal(300);
  });

  it('inserts rows later if it could not read all of them at first', async () => {
    const records = new Records(...range(0, 50));
    const feed = await feedOf(records, 1);
    records.add(...range(100, 250));
    records.brokenCursor = '00000150';
    expect(await feed.catchUp()).to.equal(0);
    expect(feed.state.error?.code).to.equal('store_unavailable');
    records.brokenCursor = undefined;
    expect(await feed.catchUp()).to.equal(150);
    expect(numbersOf(feed)).to.deep.equal([...range(0, 50), ...range(100, 250)].toReversed());
  });

  it('keeps its rows when late ones are recorded between its reads', async () => {
    const records = new Records(...range(0, 6000), 7000);
    let late = 6000;
    const countBetween = (after: string, until: string) => {
      records.add((late += 1));
      return records.countBetween(after, until);
    };
    const feed = new DecisionFeed(records.fetchPage, countBetween, () => undefined);
    for (let page = 0; page < 10; page += 1) await feed.loadMore();
    for (let poll = 1; poll <= 3; poll += 1) {
      records.add(7000 + poll);
      expect(await feed.catchUp()).to.equal(2);
    }
    expect(numbersOf(feed)).to.deep.equal(
      [...range(1401, 6000), 6001, 6002, 6003, ...range(7000, 7004)].toReversed(),
    );
  });

  it('inserts late rows far down within a few polls, and keeps the others', async () => {
    const records = new Records(...range(0, 6000).filter((number) => number !== 200 && number !== 3000));
    const feed = await feedOf(records, 13);
    expect(feed.state).to.include({ isAtEnd: true, total: 5998 });
    records.add(200, 3000);
    for (let poll = 0; poll < 3; poll += 1) {
      await feed.catchUp();
      expect(feed.state.rows.length).to.be.at.least(5998);
    }
    expect(numbersOf(feed)).to.deep.equal(range(0, 6000).toReversed());
  });

  it('drops a page that arrives after the list was restarted', async () => {
    const records = new Records(...range(0, 300));
    let answerLate: (() => void) | undefined;
    const feed = new DecisionFeed(
      async (cursor, limit) => {
        const page = await records.fetchPage(cursor, limit);
        if (cursor === '00000200') await new Promise<void>((resolve) => (answerLate = resolve));
        return page;
      },
      records.countBetween,
      () => undefined,
    );
    await feed.loadMore();
    records.add(...range(1000, 4000));
    const caughtUp = feed.catchUp();
    const late = feed.loadMore();
    await caughtUp;
    answerLate?.();
    await late;
    expect(numbersOf(feed)).to.deep.equal(range(1900, 4000).toReversed());
    await feed.loadMore();
    expect(numbersOf(feed)).to.deep.equal(range(1400, 4000).toReversed());
  });

  it('drops large fields far down', async () => {
    const records = new Records(...range(0, 7000));
    const feed = await feedOf(records, 15);
    expect(feed.state.rows[4000]).to.deep.include({ isWhole: true, arguments: { number: 2999 } });
    expect(feed.state.rows[6000]).to.include({ isWhole: false, arguments: null });
    expect(feed.near('00000999').record).to.equal(undefined);
  });

  it('drops large fields far down when rows arrive live', async () => {
    const records = new Records(...range(0, 4900));
    const feed = await feedOf(records, 11);
    records.add(...range(4900, 5100));
    expect(await feed.catchUp()).to.equal(200);
    expect(feed.state.rows.filter(({ isWhole }) => isWhole).length).to.equal(5000);
    expect(feed.near('00000099').record).to.equal(undefined);
  });

  it('knows the neighbours of a record in the list, and of no other record', async () => {
    const feed = await feedOf(new Records(10, 20, 30), 1);
    expect(feed.near('00000020')).to.deep.equal({
      isListed: true,
      record: recordOf(20),
      newer: '00000030',
      older: '00000010',
    });
    expect(feed.near('00000030')).to.deep.equal({ isListed: true, record: recordOf(30), older: '00000020' });
    expect(feed.near('00000010')).to.deep.equal({ isListed: true, record: recordOf(10), newer: '00000020' });
    expect(feed.near('nothing')).to.deep.equal({});
  });
});
