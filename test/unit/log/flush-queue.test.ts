import { mock } from 'node:test';
import { expect } from 'chai';
import { FlushQueue, type Waiting } from '../../../server/log/flush-queue.ts';

const SECOND_MS = 1000;
const ALL = { fresh: 100, careful: 100, ageMs: 0 };
const WRITTEN = { isSettled: true, projects: new Set(['p']) };
const UNKNOWN = { isSettled: false, projects: new Set(['p']) };

describe('FlushQueue', () => {
  let queue: FlushQueue;
  let calls: number;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    calls = 0;
    queue = new FlushQueue(() => (calls += 1));
  });
  afterEach(() => {
    queue.close();
    mock.timers.reset();
  });

  const statesOf = (taken: readonly Waiting[]) =>
    taken.map(({ flush, isFresh, isFinal }) => [Number(flush), isFresh, isFinal]);
  const numbers = (taken: readonly Waiting[]) => taken.map(({ flush }) => Number(flush));

  it('returns written inserts as fresh, with their projects, and notifies for each', () => {
    queue.ended(1n, WRITTEN);
    queue.ended(2n, WRITTEN);

    expect([queue.size, queue.hasCareful, calls]).to.deep.equal([2, false, 2]);
    const taken = queue.take(ALL);
    expect(statesOf(taken)).to.deep.equal([
      [1, true, true],
      [2, true, true],
    ]);
    expect(taken[0]?.projects).to.equal(WRITTEN.projects);
    expect([queue.size, queue.take(ALL)]).to.deep.equal([0, []]);
  });

  it('returns uncertain inserts for careful work at once, after 12 s, and for the last time after 70 s', () => {
    queue.ended(1n, UNKNOWN);
    const seen = [0, 11, 1, 57, 1, 100].map((seconds) => {
      mock.timers.tick(seconds * SECOND_MS);
      return statesOf(queue.take(ALL));
    });

    const again = [[1, false, false]];
    expect(seen).to.deep.equal([again, [], again, [], [[1, false, true]], []]);
  });

  it('does not look again once it is closed', () => {
    queue.ended(1n, UNKNOWN);
    queue.take(ALL);
    queue.close();

    mock.timers.tick(100 * SECOND_MS);

    expect(queue.size).to.equal(0);
  });

  it('takes the oldest first: a number of fresh ones, and others up to a number of rows', () => {
    for (const flush of [1n, 2n, 3n]) queue.ended(flush, WRITTEN);
    for (const [flush, rows] of [
      [4n, 60],
      [5n, 39],
      [6n, undefined],
      [7n, 1],
      [8n, 1],
    ] as const)
      queue.add({ flush, isFresh: false, isFinal: true, ...(rows === undefined ? {} : { rows }) });

    expect(queue.hasCareful).to.equal(true);
    expect(numbers(queue.take({ fresh: 2, careful: 100, ageMs: 0 }))).to.deep.equal([1, 2, 4, 5, 6]);
    expect(numbers(queue.take({ fresh: 0, careful: 1, ageMs: 0 }))).to.deep.equal([7]);
    expect(numbers(queue.take(ALL))).to.deep.equal([3, 8]);
  });

  it('keeps inserts younger than requested, and remembers when they began to wait', () => {
    queue.ended(1n, WRITTEN);
    const since = queue.oldestMs ?? 0;

    expect(queue.take({ ...ALL, ageMs: 60_000 })).to.deep.equal([]);
    expect(since).to.be.within(performance.now() - 1000, performance.now());
    queue.ended(2n, WRITTEN);
    queue.ended(1n, WRITTEN);
    expect(queue.oldestMs).to.equal(since);
    queue.take(ALL);
    expect(queue.oldestMs).to.equal(undefined);
  });

  it('returns incomplete inserts for careful work, and once more if their last check was due', () => {
    queue.ended(1n, WRITTEN);
    queue.ended(2n, UNKNOWN);
    const taken = queue.take(ALL);
    queue.add({ flush: 2n, isFresh: false, isFinal: true });
    queue.putBack(taken);

    expect(queue.hasCareful).to.equal(true);
    expect(statesOf(queue.take(ALL))).to.deep.equal([
      [2, false, true],
      [1, false, true],
    ]);
  });

  it('never treats an insert as fresh that needed care before', () => {
    queue.ended(1n, UNKNOWN);
    queue.ended(1n, WRITTEN);

    expect(statesOf(queue.take(ALL))).to.deep.equal([[1, false, true]]);
  });

  it('forgets everything beyond 100,000, and reports that', () => {
    for (let flush = 1n; flush <= 100_000n; flush += 1n) queue.ended(flush, WRITTEN);
    expect([queue.size, queue.hasOverflowed]).to.deep.equal([100_000, false]);

    queue.ended(100_001n, WRITTEN);

    expect([queue.size, queue.hasOverflowed]).to.deep.equal([0, true]);
  });
});
