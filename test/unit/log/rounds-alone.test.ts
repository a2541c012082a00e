import { expect } from 'chai';
import { LogRounds, NO_INSERTS } from '../../../server/log/rounds.ts';
import { Random } from '../../support/random.ts';
import { ModelStore } from './support/model-store.ts';
import { Schedule } from './support/schedule.ts';

/** Carries out every statement immediately. */
class AtOnce extends Schedule {
  constructor() {
    super(new Random(1));
  }

  override statement<T>(_actor: string, effect: () => T): Promise<T> {
    return Promise.resolve(effect());
  }
}

const workOf = (fresh: string[]) => ({ ...NO_INSERTS, fresh, projects: new Set(['p']) });

describe('the rounds of the log of a process that has the store to itself', () => {
  let store: ModelStore;
  let tables: ReturnType<ModelStore['tables']>;
  let rounds: LogRounds;
  let reads: number;
  const now = performance.now.bind(performance);

  beforeEach(() => {
    // In process the store does not look at tokens.
    store = new ModelStore(new AtOnce(), 'no token');
    tables = store.tables('alone');
    reads = 0;
    const { newsAfter } = tables;
    tables.newsAfter = (round) => {
      reads += 1;
      return newsAfter(round);
    };
    rounds = new LogRounds({ tables, isShared: false, remove: async () => {}, expiredBefore: () => '' });
  });

  afterEach(() => {
    performance.now = now;
  });

  /** An insert of one row. */
  async function insert(number: number, event_id = `e${number}`): Promise<string> {
    const version = String(1000 - number);
    const received_at = String(number);
    const row = { project_id: 'p', event_id, body: '', day: 'd', version, received_at };
    await store.insert('alone', { ...row, flush: `${number}`, entry: `x${number}` });
    return `${number}`;
  }

  it('read the head once, and afterwards only what they wrote', async () => {
    for (const number of [1, 2, 3]) {
      const fresh = [await insert(number)];
      expect((await rounds.run(workOf(fresh))).grown.get('p')).to.equal(number);
    }
    expect(reads).to.equal(4);
    expect(store.entries()).to.deep.equal(['x1', 'x2', 'x3']);
  });

  it('read the head again after a commit that failed, whether it was carried out or not', async () => {
    const { append } = tables;
    await rounds.run(workOf([await insert(1)]));
    for (const isCarriedOut of [true, false]) {
      const number = isCarriedOut ? 2 : 3;
      const flush = await insert(number);
      tables.append = async (...given) => {
        if (isCarriedOut) await append(...given);
        throw new Error('The answer is lost');
      };
      await rounds.run(workOf([flush])).catch(() => undefined);
      tables.append = append;
      const work = { ...NO_INSERTS, careful: [{ flush, isFinal: true }] };
      expect(await rounds.run(work)).to.include({ isDone: true });
    }
    expect(store.entries()).to.deep.equal(['x1', 'x2', 'x3']);
    const starts = store.rounds.flatMap(({ rows }) => rows.filter(({ project_id }) => project_id));
    expect(starts.map(({ start }) => start)).to.deep.equal([0, 1, 2]);
  });

  it('read the head again after a minute', async () => {
    await rounds.run(workOf([await insert(1)]));
    performance.now = () => now() + 60_000;
    await rounds.run(workOf([await insert(2)]));
    expect(reads).to.equal(4);
  });

  it('do not append again rows of an insert that are already in the log', async () => {
    const [first, second] = [await insert(1), await insert(2)];
    await rounds.run(workOf([first]));
    await rounds.run({ ...workOf([second]), careful: [{ flush: first, isFinal: true }] });
    expect(store.entries()).to.deep.equal(['x1', 'x2']);
  });

  it('append the pieces of a project one after another', async () => {
    await rounds.run(workOf([await insert(1)]));
    const piece = { project_id: 'p', received_from: '2', received_to: '2' };
    tables.pieces = () =>
      Promise.resolve([
        { ...piece, entries: 'x2 x3', count: 2 },
        { ...piece, entries: 'x4', count: 1 },
      ]);
    const { grown } = await rounds.run({ ...NO_INSERTS, careful: [{ flush: '2', isFinal: true }] });
    expect(store.rounds.at(-1)?.rows.map(({ start }) => start)).to.deep.equal([1, 3]);
    expect(grown).to.deep.equal(new Map([['p', 4]]));
  });

  it('list an insert whose records have all expired', async () => {
    await rounds.run(workOf([await insert(1)]));
    expect(await rounds.run(workOf(['2']))).to.deep.equal({ isDone: true, incomplete: [], grown: new Map() });
    await rounds.run(workOf([await insert(3)]));
    expect([...store.listed()]).to.deep.equal(['1', '2', '3']);
    expect(store.entries()).to.deep.equal(['x1', 'x3']);
  });

  for (const [what, change] of [
    ['came too late to count', { counts: false }],
    ['is that of another process', { proposal: 'another' }],
  ] as const)
    it(`fail when the round in the store ${what}`, async () => {
      await rounds.run(workOf([await insert(1)]));
      const { newsAfter } = tables;
      tables.newsAfter = async (round) => {
        const news = await newsAfter(round);
        return { ...news, rows: news.rows.map((row) => ({ ...row, ...change })) };
      };
      expect(await rounds.run(workOf([await insert(2)]))).to.deep.equal({
        isDone: false,
        incomplete: [],
        grown: new Map(),
      });
    });

  describe('with inserts of which rows may still arrive', () => {
    const careful = ['1', '2', '3', '4', '5', '6', '7'].map((flush) => ({ flush, isFinal: false }));

    /** Before each of the first reads of what enters, one more row of the first record arrives. */
    function arrive(rows: number): void {
      const { pieces } = tables;
      let number = 1;
      tables.pieces = async (...given) => {
        if (number <= rows) await insert((number += 1), 'e1');
        return pieces(...given);
      };
    }

    it('look again, so that a row that arrived late does not enter in addition to its record', async () => {
      await insert(1);
      arrive(2);

      expect(await rounds.run({ ...NO_INSERTS, careful })).to.deep.include({
        isDone: true,
        incomplete: ['2', '3'],
      });
      expect(store.entries()).to.deep.equal(['x1']);
    });

    it('list them only when no row can arrive any more', async () => {
      const flush = await insert(1);
      for (const isFinal of [false, true]) {
        await rounds.run({ ...NO_INSERTS, careful: [{ flush, isFinal }] });
        expect([...store.listed()]).to.deep.equal(isFinal ? [flush] : []);
        expect(store.entries()).to.deep.equal(['x1']);
      }
    });

    it('give an identity to the row received first, in whatever order the rows are read', async () => {
      for (const number of [2, 1, 3]) await insert(number, 'e');

      expect(await rounds.run({ ...NO_INSERTS, careful })).to.include({ isDone: true });
      expect(store.entries()).to.deep.equal(['x1']);
    });

    it('write nothing while rows keep arriving', async () => {
      await insert(1);
      arrive(5);

      const fault = await rounds.run({ ...NO_INSERTS, careful }).catch((error: unknown) => error);

      expect(fault).to.include({ code: 'store_unavailable' });
      expect(store.entries()).to.deep.equal([]);
    });
  });
});
