import fc from 'fast-check';
import { expect } from 'chai';
import { enginesOf } from './support/engines.ts';

// Compares `like` with a naive matcher: both engines use the same algorithm and could share a bug. Patterns are made from the
// text that they are matched with, and are longer than a machine word.

const ALPHABET = ['a', 'a', 'b', 'é', '😀'];
const STAR = '*';
const ANY = '?';

/** matches[j]: the pattern read so far matches the first j code points. */
function matchesPlainly(pattern: string[], text: string[]): boolean {
  let matches = [true, ...text.map(() => false)];
  for (const unit of pattern) {
    const before = matches;
    matches = before.map((_, end) => {
      if (unit === STAR) return before.slice(0, end + 1).includes(true);
      return end > 0 && (before[end - 1] ?? false) && (unit === ANY || unit === text[end - 1]);
    });
  }
  return matches.at(-1) ?? false;
}

type Edit = { at: number; length: number; to: string };

const textArbitrary = fc.array(fc.constantFrom(...ALPHABET), { maxLength: 90 });
const editArbitrary: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat({ max: 100 }),
  length: fc.constantFrom(0, 1, 1, 1, 1, 3, 12),
  to: fc.constantFrom(STAR, ANY, ANY, 'b'),
});

type Case = { pattern: string[]; texts: string[][] };

const editedCase: fc.Arbitrary<Case> = fc
  .tuple(textArbitrary, fc.array(editArbitrary, { maxLength: 12 }), fc.array(textArbitrary, { maxLength: 2 }))
  .map(([text, edits, others]) => {
    const pattern = [...text];
    for (const { at, length, to } of edits) {
      // Replaces a run by a star, or one code point by anything.
      pattern.splice(at % (pattern.length + 1), length, length === 3 || length === 12 ? STAR : to);
    }
    return { pattern, texts: [text, text.slice(1), text.slice(0, -1), [...text, ...text], ...others] };
  });

/** One long part between two stars, and texts that contain it, or all but one code point of it. */
const longPartCase: fc.Arbitrary<Case> = fc
  .record({
    part: fc.array(fc.constantFrom(...ALPHABET), { minLength: 20, maxLength: 80 }),
    before: textArbitrary,
    wild: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
    spoilt: fc.nat(),
  })
  .map(({ part, before, wild, spoilt }) => {
    const places = wild.map((at) => at % part.length);
    const pattern = [STAR, ...part.map((unit, index) => (places.includes(index) ? ANY : unit)), STAR];
    const broken = part.with(spoilt % part.length, 'c');
    return {
      pattern,
      texts: [
        [...before, ...part, 'b'],
        [...before, ...broken],
        [...part.slice(1), ...part],
      ],
    };
  });

const caseArbitrary = fc.oneof(editedCase, longPartCase);

describe('like', () => {
  it('agrees with a naive matcher, in both engines', () => {
    let hits = 0;
    fc.assert(
      fc.property(caseArbitrary, ({ pattern, texts }) => {
        const when = `{arg: v, like: ${JSON.stringify(pattern.join(''))}}`;
        const { typescript, wasm } = enginesOf(
          `version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\nrules: [{id: r, when: ${when}, effect: deny, reason: R.}]\n`,
        );
        for (const text of texts) {
          const call = JSON.stringify({ tool: 't', arguments: { v: text.join('') } });
          const outcome = matchesPlainly(pattern, text) ? 'deny' : 'allow';
          if (outcome === 'deny') hits += 1;

          expect(JSON.parse(typescript.decideText(call))).to.have.property('outcome', outcome);
          expect(JSON.parse(wasm.decideText(call))).to.have.property('outcome', outcome);
        }
      }),
      { numRuns: 1_000 },
    );

    expect(hits).to.be.above(300);
  });
});
