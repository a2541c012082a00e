import { expect } from 'chai';
import { faultsOf } from './support/history.ts';
import type { Flaw } from './support/model-store.ts';

const HISTORIES = 300;
/** A flaw shows in one of this many histories. */
const SEEDS_MAX = 400;

describe('the rounds of the log, by random histories of services that are killed and frozen between any two steps', () => {
  it(`${HISTORIES} histories: one log, every record once, losers removed only when the winner is in it`, async () => {
    for (let seed = 1; seed <= HISTORIES; seed += 1)
      expect(await faultsOf(seed), `seed ${seed}`).to.deep.equal([]);
  });

  const flaws: Flaw[] = [
    'no token',
    'late rounds count',
    'late rounds list',
    'look before head',
    'removal before commit',
    'nothing left out',
    'no marks',
    'rows without a mark unseen',
  ];
  for (const flaw of flaws)
    it(`shows a fault with the flaw "${flaw}"`, async () => {
      let seed = 1;
      while ((await faultsOf(seed, flaw)).length === 0) {
        seed += 1;
        expect(seed, 'histories without a fault').to.be.below(SEEDS_MAX);
      }
    });
});
