import { expect } from 'chai';
import { EventQueue } from '../../../client/audit/event-queue.ts';

const NO_LIMIT = { eventsMax: Infinity, bytesMax: Infinity };

describe('events that wait', () => {
  it('are counted in bytes of UTF-8 with a newline each, also when they are taken and put back', () => {
    const queue = new EventQueue({ eventsMax: 10, bytesMax: 100 });
    queue.tryPush('é');
    queue.tryPush('abc');
    expect(queue.bytes).to.equal(7);
    const taken = queue.take(NO_LIMIT);
    expect([queue.length, queue.bytes]).to.deep.equal([0, 0]);
    queue.tryPush('later');
    queue.putBack(taken);

    expect([queue.length, queue.bytes]).to.deep.equal([3, 13]);
    expect(queue.take(NO_LIMIT).map(({ text }) => text)).to.deep.equal(['é', 'abc', 'later']);
  });

  it('keep their order, whichever is put back first', () => {
    const queue = new EventQueue({ eventsMax: 10, bytesMax: 100 });
    for (const text of ['a', 'b', 'c']) queue.tryPush(text);
    const [first, second] = [1, 1].map((eventsMax) => queue.take({ eventsMax, bytesMax: 100 }));
    queue.putBack(first ?? []);
    queue.putBack(second ?? []);

    expect(queue.take(NO_LIMIT).map(({ text }) => text)).to.deep.equal(['a', 'b', 'c']);
  });

  it('fit up to the last byte', () => {
    const queue = new EventQueue({ eventsMax: 10, bytesMax: 8 });

    expect(['abc', 'abcd', 'abc', ''].map((text) => queue.tryPush(text))).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
    expect(queue.isFull).to.equal(true);
  });

  it('are taken up to a number and a size, and one at least', () => {
    const queue = new EventQueue({ eventsMax: 10, bytesMax: 100 });
    for (const text of ['abcdef', 'a', 'b', 'c', 'd']) queue.tryPush(text);
    const take = (eventsMax: number, bytesMax: number) =>
      queue.take({ eventsMax, bytesMax }).map(({ text }) => text);

    expect(take(10, 1)).to.deep.equal(['abcdef']);
    expect(take(10, 5)).to.deep.equal(['a', 'b']);
    expect(take(1, 100)).to.deep.equal(['c']);
    expect(take(1, 100)).to.deep.equal(['d']);
    expect(take(1, 100)).to.deep.equal([]);
  });
});
