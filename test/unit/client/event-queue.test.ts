import { expect } from 'chai';
import { EventQueue } from '../../../client/audit/event-queue.ts';

const NO_LIMIT = { eventsMax: Infinity, bytesMax: Infinity };

/** A queue that numbers what is pushed. */
function numbered(queue: EventQueue) {
  let sequence = 0;
  const tryPush = (text: string) => queue.tryPush(text, { sequence: (sequence += 1), dropped: 0 });
  return { queue, tryPush };
}

describe('events that wait', () => {
  it('are counted in bytes of UTF-8 with a newline each, also when they are taken and put back', () => {
    const { queue, tryPush } = numbered(new EventQueue({ eventsMax: 10, bytesMax: 100 }));
    tryPush('é');
    tryPush('abc');
    expect(queue.bytes).to.equal(7);
    const taken = queue.take(NO_LIMIT);
    expect([queue.length, queue.bytes]).to.deep.equal([0, 0]);
    tryPush('later');
    queue.putBack(taken);

    expect([queue.length, queue.bytes]).to.deep.equal([3, 13]);
    expect(queue.take(NO_LIMIT).map(({ text }) => text)).to.deep.equal(['é', 'abc', 'later']);
  });

  it('keep their order, whichever is put back first', () => {
    const { queue, tryPush } = numbered(new EventQueue({ eventsMax: 10, bytesMax: 100 }));
    for (const text of ['a', 'b', 'c']) tryPush(text);
    const [first, second] = [1, 1].map((eventsMax) => queue.take({ eventsMax, bytesMax: 100 }));
    queue.putBack(first ?? []);
    queue.putBack(second ?? []);

    expect(queue.take(NO_LIMIT).map(({ text }) => text)).to.deep.equal(['a', 'b', 'c']);
  });

  it('fit up to the last byte', () => {
    const { queue, tryPush } = numbered(new EventQueue({ eventsMax: 10, bytesMax: 8 }));

    expect(['abc', 'abcd', 'abc', ''].map((text) => tryPush(text))).to.deep.equal([true, false, true, false]);
    expect(queue.isFull).to.equal(true);
  });

  it('are taken up to a number and a size, but at least one', () => {
    const { queue, tryPush } = numbered(new EventQueue({ eventsMax: 10, bytesMax: 100 }));
    for (const text of ['abcdef', 'a', 'b', 'c', 'd']) tryPush(text);
    const take = (eventsMax: number, bytesMax: number) =>
      queue.take({ eventsMax, bytesMax }).map(({ text }) => text);

    expect(take(10, 1)).to.deep.equal(['abcdef']);
    expect(take(10, 5)).to.deep.equal(['a', 'b']);
    expect(take(1, 100)).to.deep.equal(['c']);
    expect(take(1, 100)).to.deep.equal(['d']);
    expect(take(1, 100)).to.deep.equal([]);
  });

  it('are taken up to a number of ranges', () => {
    const queue = new EventQueue({ eventsMax: 10, bytesMax: 100 });
    for (const sequence of [4, 5, 7, 9, 10]) queue.tryPush('a', { sequence, dropped: 0 });
    const take = () => queue.take({ ...NO_LIMIT, rangesMax: 2 }).map(({ sequence }) => sequence);

    expect([take(), take(), take()]).to.deep.equal([[4, 5, 7], [9, 10], []]);
  });
});
