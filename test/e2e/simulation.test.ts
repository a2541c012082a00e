import { expect } from 'chai';
import { type Figures, ONE_SERVER, simulate, type SimulationOptions } from '../sim/options.ts';

const MERGED = { mergeMs: 125, batchRowsMax: 20_000 };
const SMALL: SimulationOptions = {
  ...ONE_SERVER,
  load: { perSecond: 2000 },
  shards: 2,
  replicas: 3,
  seconds: 2,
};

/** Connections break while the store gathers. */
const BROKEN = { ...SMALL, processes: 8, brokenShare: 0.3, ...MERGED };

describe('the simulation', () => {
  let broken: Figures;
  before('simulate', async () => void (broken = await simulate(BROKEN)));

  it('gives the same figures for the same seed, and others for another', async () => {
    const [again, other] = await Promise.all([simulate(BROKEN), simulate({ ...BROKEN, seed: 2 })]);

    expect(again).to.deep.equal(broken);
    expect(other).not.to.deep.equal(broken);
  });

  it('has fewer than 10 parts a shard and second with any number of processes where the store merges', async () => {
    for (const processes of [1, 100]) {
      const figures = await simulate({ ...SMALL, processes, ...MERGED });

      expect(figures.partsInWorstSecond, `${processes} processes`).to.be.within(1, 9);
      expect(figures.identityPartsPerShardAndSecond).to.be.below(10);
      expect(figures.p99Ms).to.be.below(1000);
      expect(figures.refusedShare).to.equal(0);
    }
  });

  it('has parts for each process if it does not, unless their inserts are far apart', async () => {
    const [many, apart] = await Promise.all([
      simulate({ ...SMALL, processes: 24 }),
      simulate({ ...SMALL, processes: 2, interval: { intervalMs: 250, rowsMin: 4000 } }),
    ]);

    expect(many.partsPerShardAndSecond).to.be.above(100);
    expect(apart.partsInWorstSecond).to.be.within(7, 9);
  });

  it('loses and doubles nothing when connections break and replicas are unavailable', async () => {
    for (const merged of [MERGED, {}]) {
      const figures = await simulate({
        ...SMALL,
        processes: 4,
        brokenShare: 0.3,
        away: { fromMs: 1200, toMs: 2700 },
        replicas: 2,
        ...merged,
      });

      expect(figures.refusedShare).to.be.above(0);
      expect([figures.lost, figures.doubled]).to.deep.equal([0, 0]);
    }
  });

  it('writes no row twice when connections break while the store gathers', () => {
    expect([broken.lost, broken.doubled, broken.copies]).to.deep.equal([0, 0, 0]);
  });
});
