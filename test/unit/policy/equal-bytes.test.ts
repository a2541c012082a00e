import { expect } from 'chai';
import { createTypescriptEngine } from '../../../client/policy/language/index.ts';
import { irOf } from './support/engines.ts';
import { findDifference, type DecideText } from './support/properties.ts';

// A runs random calls on random policies, B rich values on single operators; together they find every planted bug.
describe('the module and the TypeScript engine give the same bytes', () => {
  const typescript = (policy: string): DecideText => createTypescriptEngine(irOf(policy)).decideText;

  it('A: for random policies and random call texts', () => {
    const { difference, calls } = findDifference('A', typescript, 600);

    expect(difference).to.equal(undefined);
    expect(calls).to.be.above(6_000);
  });

  it('B: for one operator and rich values', () => {
    const { difference, calls } = findDifference('B', typescript, 1_500);

    expect(difference).to.equal(undefined);
    expect(calls).to.be.above(12_000);
  });
});
