import { expect } from 'chai';
import { brokenEngine } from './support/broken-engine.ts';
import { PLANTED_BUGS } from './support/planted-bugs.ts';
import { differenceIn, fixedCases, type AnsweredCase } from './support/properties.ts';

// Each planted bug must be found by the properties. A few cases of A find most bugs, B finds what a single operator hides,
// and the rest takes many cases of A. The seed is fixed, so that a bug is not found only on some days.
describe('the properties find every planted bug', () => {
  let cases: AnsweredCase[];

  before(() => {
    const seed = 4;
    const many = fixedCases('A', { numRuns: 1_000, seed });
    cases = [...many.slice(0, 100), ...fixedCases('B', { numRuns: 500, seed }), ...many.slice(100)];
  });

  for (const bug of PLANTED_BUGS) {
    it(bug.name, async () => {
      const engine = await brokenEngine(bug);

      const isFound = cases.some((one) => differenceIn(one, engine) !== undefined);

      expect(isFound, 'the broken engine gave the same decisions as the module').to.equal(true);
    });
  }
});
