import { expect } from 'chai';
import { brokenEngine } from './support/broken-engine.ts';
import { PLANTED_BUGS } from './support/planted-bugs.ts';
import { findDifference } from './support/properties.ts';

// A few runs of A find most bugs, B finds what hides in one operator, and the rest takes many runs of A. The
// seed is fixed, so that a bug is not found by luck on one day and missed on another.
const ATTEMPTS = [
  { property: 'A', numRuns: 100 },
  { property: 'B', numRuns: 500 },
  { property: 'A', numRuns: 1_000 },
] as const;

// The properties must bite: each planted bug is found by one of them.
describe('the properties find every planted bug', () => {
  for (const bug of PLANTED_BUGS) {
    it(bug.name, async () => {
      const engine = await brokenEngine(bug);

      const isFound = ATTEMPTS.some(({ property, numRuns }) => {
        const { difference } = findDifference(property, engine, { numRuns, seed: 4, endOnFailure: true });
        return difference !== undefined;
      });

      expect(isFound, 'no call tells the broken engine from the module').to.equal(true);
    });
  }
});
