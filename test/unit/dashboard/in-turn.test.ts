import { expect } from 'chai';
import { inTurn } from '../../../server/dashboard/src/api/in-turn.ts';

describe('the reads of a page', () => {
  it('run three at a time, in order, and not if aborted', async () => {
    const started: number[] = [];
    const endings = new Map<number, (fails?: boolean) => void>();
    const aborts = Array.from({ length: 6 }, () => new AbortController());
    const reads = aborts.map(({ signal }, index) =>
      inTurn(signal, () => {
        started.push(index);
        return new Promise<number>((resolve, reject) => {
          endings.set(index, (fails) => (fails === true ? reject(new Error('fails')) : resolve(index)));
        });
      }).catch((error: Error) => error.name),
    );
    const end = async (index: number, fails = false) => {
      endings.get(index)?.(fails);
      await reads[index];
      await new Promise(setImmediate);
    };

    expect(started).to.deep.equal([0, 1, 2]);
    aborts[3]?.abort();
    await end(1, true);
    expect(started).to.deep.equal([0, 1, 2, 4]);
    await end(0);
    expect(started).to.deep.equal([0, 1, 2, 4, 5]);
    for (const index of [2, 4, 5]) await end(index);
    expect(await Promise.all(reads)).to.deep.equal([0, 'Error', 2, 'AbortError', 4, 5]);
  });
});
