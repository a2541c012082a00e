import { expect } from 'chai';
import { chunksOf, keyOf, type Pair, PairMap } from '../../../server/commit/identity.ts';
import { Random } from '../../support/random.ts';

describe('PairMap', () => {
  it('is a map by project and event, as one with the key of both', () => {
    const random = new Random(7);
    const [map, model] = [new PairMap<number>(), new Map<string, number>()];

    for (let step = 0; step < 2000; step += 1) {
      const pair: Pair = { project_id: `p${random.below(3)}`, event_id: `e${random.below(5)}` };
      if (random.chance(0.5)) {
        map.set(pair, step);
        model.set(keyOf(pair), step);
      } else {
        map.delete(pair);
        model.delete(keyOf(pair));
      }
      expect([map.size, map.get(pair)]).to.deep.equal([model.size, model.get(keyOf(pair))]);
      const entries = Array.from(map.entries(), ([key, value]) => [keyOf(key), value]);
      expect(entries).to.have.deep.members([...model]);
    }
  });
});

describe('chunksOf', () => {
  it('divides a list into pieces of limited size, and an empty one into none', () => {
    expect([...chunksOf([1, 2, 3, 4, 5], 2)]).to.deep.equal([[1, 2], [3, 4], [5]]);
    expect([...chunksOf([1, 2], 2)]).to.deep.equal([[1, 2]]);
    expect([...chunksOf([], 2)]).to.deep.equal([]);
  });
});
