import fc from 'fast-check';
import { expect } from 'chai';
import { literalSearch } from '../../../client/policy/language/literal-search.ts';

// Compares with indexOf. Literals are longer than those that use indexOf, and repeat themselves.

const units = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b', 'é', '\ud83d', '\ude00'), minLength, maxLength });

const literalArbitrary = fc
  .tuple(units(1, 12), fc.integer({ min: 2, max: 6 }), units(0, 6))
  .map(([period, times, end]) => period.repeat(times) + end);

describe('the search for a literal', () => {
  it('finds what indexOf finds, even with lone surrogates', () => {
    let hits = 0;
    fc.assert(
      fc.property(literalArbitrary, units(0, 40), fc.nat(50), (literal, other, start) => {
        const broken = literal.slice(0, -1);
        for (const text of [other, broken + literal, other + literal + other, broken + broken + other]) {
          const found = text.indexOf(literal, start);
          if (found >= 0) hits += 1;

          expect(literalSearch(literal)(text, start)).to.equal(found);
        }
      }),
      { numRuns: 2_000 },
    );

    expect(hits).to.be.above(500);
  });
});
