import { expect } from 'chai';
import { createTypescriptEngine } from '../../../client/policy/language/index.ts';
import { irOf } from './support/engines.ts';
import { findDifference, type DecideText } from './support/properties.ts';

// POLICY 5: both engines give the same bytes. A finds what random calls find in random policies, B what
// hides in one operator; together they have found every bug planted so far.
describe('the module and the TypeScript engine give the same bytes', () => {
  const typescript = (policy: string): DecideText => createTypescriptEngine(irOf(policy)).decideText;

  it('A: for random policies and random call texts', () => {
    const { difference, calls } = findDifference('A', typescript, { numRuns: 600 });

    expect(difference).to.equal(undefined);
    expect(calls).to.be.above(6_000);
  });

  it('B: for one operator and rich values', () => {
    const { difference, calls } = findDifference('B', typescript, { numRuns: 1_500 });

    expect(difference).to.equal(undefined);
    expect(calls).to.be.above(12_000);
  });
});
