import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type Unit, WriteQueue } from '../../../server/commit/write-queue.ts';
import { entryOf } from '../../support/rows.ts';

describe('WriteQueue', () => {
  const project = randomUUID();

  function queueOf(...units: number[]): WriteQueue {
    const bounds = { batchRowsMax: 2000, queueRowsMax: 10_000, queueBytesMax: 1e8 };
    const queue = new WriteQueue(bounds, () => undefined);
    units.forEach((rows) => pushUnit(queue, rows));
    return queue;
  }

  function pushUnit(queue: WriteQueue, rows: number): void {
    const unit = { rows } as Unit;
    for (let place = 0; place < rows; place++)
      queue.push({ entry: entryOf(project), unit, place, followers: undefined });
  }

  const singles = (count: number): number[] => Array.from({ length: count }, () => 1);

  it('divides larger units beside a stream of single callers, until it has been gone for a while', () => {
    const queue = queueOf(300, ...singles(16), 200, 300);

    const rows = [0, 10, 20, 199, 200].map((nowMs) => queue.takeBatch(nowMs).length);

    expect(rows).to.deep.equal([16 + 128, 128, 44, 128, 72 + 300]);
  });

  it('gives fewer single callers a whole unit beside them', () => {
    const queue = queueOf(600, ...singles(15), 200, 200, 200);

    const rows = [0, 10, 20].map((nowMs) => queue.takeBatch(nowMs).length);

    expect(rows).to.deep.equal([15 + 600, 400, 200]);
  });
});
