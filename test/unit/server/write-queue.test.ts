import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type Row, type Unit, WriteQueue } from '../../../server/commit/write-queue.ts';
import { entryOf } from '../../support/rows.ts';

describe('WriteQueue', () => {
  const ENTRY = entryOf(randomUUID());
  const BYTES = ENTRY.line.length;

  const BOUNDS = { batchRowsMax: 2000, queueRowsMax: 10_000, queueBytesMax: 1e8 };

  function queueOf(...units: number[]): WriteQueue {
    const queue = new WriteQueue(BOUNDS, () => undefined);
    units.forEach((rows) => pushUnit(queue, rows));
    return queue;
  }

  const rowOf = (unit: Unit, place = 0): Row => ({ entry: ENTRY, unit, place, followers: undefined });
  const unitOf = (rows: number, sinceMs = 0) => ({ rows, sinceMs }) as Unit;

  function pushUnit(queue: WriteQueue, rows: number, sinceMs = 0): void {
    const unit = unitOf(rows, sinceMs);
    for (let place = 0; place < rows; place++) queue.push(rowOf(unit, place));
  }

  const singles = (count: number): number[] => Array.from({ length: count }, () => 1);

  it('divides larger units while single callers keep coming, and for a while afterwards', () => {
    const queue = queueOf(300, ...singles(16), 200, 300);

    const rows = [0, 10, 20, 199, 200].map((nowMs) => queue.takeBatch(nowMs).length);

    expect(rows).to.deep.equal([16 + 128, 128, 44, 128, 72 + 300]);
  });

  it('adds a whole unit to a few single callers', () => {
    const queue = queueOf(600, ...singles(15), 200, 200, 200);

    const rows = [0, 10, 20].map((nowMs) => queue.takeBatch(nowMs).length);

    expect(rows).to.deep.equal([15 + 600, 400, 200]);
  });

  it('fills an insert with single callers, and leaves a part of it to larger units', () => {
    const queue = new WriteQueue({ ...BOUNDS, batchRowsMax: 20 }, () => undefined);
    for (const rows of [...singles(30), 4, 4, 4]) pushUnit(queue, rows);

    const rows = [0, 10, 20].map((nowMs) => queue.takeBatch(nowMs).length);

    // 10 singles with two whole units; those left with the last one; nothing.
    expect(rows).to.deep.equal([10 + 8, 16 + 4, 4]);
  });

  it('is full by the bytes of single callers, larger units and followers, until they are taken', () => {
    const queue = new WriteQueue({ ...BOUNDS, queueBytesMax: 4 * BYTES }, () => undefined);
    const isFull = () => queue.isFullFor(1, 0);
    const first = rowOf(unitOf(1));
    const seen = [isFull()];
    queue.push(first);
    pushUnit(queue, 2);
    seen.push(isFull());
    queue.pushFollower(first, rowOf(unitOf(1)));
    seen.push(isFull());
    queue.takeFollowers(first);
    seen.push(isFull());
    pushUnit(queue, 1);
    seen.push(isFull());
    queue.takeBatch(0);
    seen.push(isFull());

    expect(seen).to.deep.equal([false, false, true, false, true, false]);
  });

  it('is full if a row would wait longer than a second for earlier inserts', () => {
    const queue = new WriteQueue({ ...BOUNDS, batchRowsMax: 10 }, () => undefined);
    const flushMs = 400;

    const seen = [9, 1, 5, 1].map((rows) => {
      pushUnit(queue, rows);
      return [queue.rows, queue.isFullFor(1, flushMs)];
    });

    // The running insert, and one for each ten rows.
    expect(seen).to.deep.equal([
      [9, false],
      [10, false],
      [15, false],
      [16, true],
    ]);
    expect(queue.isFullFor(1, 384)).to.equal(false);
    expect(queueOf(9).isFullFor(1, 10_000)).to.equal(false);
  });

  it('returns callers who have waited too long, of both kinds and among followers, and keeps the others', () => {
    const reported: number[] = [];
    const queue = new WriteQueue({ ...BOUNDS, queueBytesMax: 5 * BYTES }, (rows) => reported.push(rows));
    const first = rowOf(unitOf(1, 30));
    queue.push(first);
    for (const [rows, sinceMs] of [
      [1, 10],
      [2, 20],
      [3, 21],
    ] as const)
      pushUnit(queue, rows, sinceMs);
    for (const sinceMs of [10, 20, 21]) queue.pushFollower(first, rowOf(unitOf(1, sinceMs)));
    queue.pushed();

    const [none, old] = [queue.takeOlderThan(9), queue.takeOlderThan(20)];
    const oldFollowers = queue.takeFollowers(first, 20);

    const waits = (rows: readonly Row[]) => rows.map(({ unit }) => unit.sinceMs);
    expect([none, old, oldFollowers].map(waits)).to.deep.equal([[], [10, 20, 20], [10, 20]]);
    expect(queue.isFullFor(1, 0)).to.equal(true);
    expect(waits(queue.takeFollowers(first))).to.deep.equal([21]);
    expect(queue.isFullFor(1, 0)).to.equal(false);
    expect(waits(queue.takeBatch(0))).to.deep.equal([30, 21, 21, 21]);
    // Once for what was pushed, taken as too old, and taken for an insert.
    expect(reported).to.deep.equal([7, 4, 0]);
  });
});
