import { expect } from 'chai';
import { FlushNumbers, numberAt } from '../../../server/commit/flush-numbers.ts';

const PROCESSES = 2000;

describe('FlushNumbers', () => {
  // Two inserts with one number: the log could list the first as complete before the second has landed.
  it('hardly ever gives one number to two processes in the same millisecond', () => {
    const inMillisecond = numberAt(1);

    const places = Array.from({ length: PROCESSES }, () => new FlushNumbers().next() % inMillisecond);

    expect(new Set(places).size).to.be.above(0.99 * PROCESSES);
  });

  it('gives each number once, in ascending order, and knows its own', () => {
    const [numbers, others] = [new FlushNumbers(), new FlushNumbers()];

    const own = Array.from({ length: 100 }, () => numbers.next());

    expect(own).to.deep.equal([...new Set(own)].sort((a, b) => (a < b ? -1 : 1)));
    expect(own.every((flush) => numbers.isOwn(flush))).to.equal(true);
    expect(numbers.isOwn(others.next())).to.equal(false);
  });

  it('continues after the number of another process, and knows its own from then on', () => {
    const [numbers, ahead] = [new FlushNumbers(), numberAt(2 * Date.now()) + 7n];
    numbers.startAfter(ahead);
    numbers.startAfter(1n);

    const own = [numbers.next(), numbers.next()];

    expect(own.every((flush) => flush > ahead && numbers.isOwn(flush))).to.equal(true);
    expect(own[0]).not.to.equal(own[1]);
    expect(numbers.isOwn(ahead)).to.equal(false);
  });

  it('does not know a number that it has not given', () => {
    const numbers = new FlushNumbers();
    const step = numberAt(1);
    expect(numbers.isOwn(0n)).to.equal(false);
    const first = numbers.next();
    const last = numbers.next();

    const [before, beside, after] = [first - step, last - 1n, last + step].map((flush) =>
      numbers.isOwn(flush),
    );

    expect([before, beside, after]).to.deep.equal([false, false, false]);
  });
});
