import { expect } from 'chai';
import { readCall } from '../../../client/policy/language/read-call.ts';
import { errorLines } from './support/engines.ts';

const GOOD = 'version: 1\ntools: [a]\nroles: { "*": { allow: [a] } }\n';
const TOO_LONG = ['1:1 the policy has more than 65536 bytes'];
const EMPTY = ['1:1 the policy is empty'];

describe('the errors of a text that is not a policy', () => {
  const texts: [string, string, string[]][] = [
    ['65,537 bytes', '#'.repeat(65_537), TOO_LONG],
    ['65,536 bytes', '#'.repeat(65_536), EMPTY],
    ['65,537 bytes in fewer characters', `#${'é'.repeat(32_768)}`, TOO_LONG],
    ['65,536 bytes in fewer characters', `#${'é'.repeat(32_767)}\n`, EMPTY],
    ['a lone surrogate', `${GOOD}# \udfff`, ['4:3 lone surrogates are not allowed']],
    [
      'a control character',
      `${GOOD}a: \x01b\n`,
      ['4:1 unknown key "a" in the policy', '4:4 control characters are not allowed'],
    ],
    ['a second document', `${GOOD}---\n${GOOD}`, ['4:1 a policy is one document; a second one starts here']],
    ['65 levels', '['.repeat(65), ['1:65 nested deeper than 64 levels']],
    [
      'a list without an end',
      `${GOOD}x: [\n`,
      ['5:1 Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    [
      'two faults in one list',
      'a:\n  - b\n c\n',
      [
        '3:1 All mapping items must start at the same column',
        '3:2 Implicit map keys need to be followed by map values',
      ],
    ],
    // The parser has lost its place, so it complains about everything that follows.
    [
      'ends without a beginning',
      '}'.repeat(200),
      ['1:1 Unexpected flow-map-end token in YAML document: "}"'],
    ],
    [
      'a fault before the parser loses its place',
      'a: b: c\n]\n]\n',
      ['1:4 Nested mappings are not allowed in compact mappings'],
    ],
  ];
  for (const [what, text, errors] of texts) {
    it(`name the fault: ${what}`, () => {
      expect(errorLines(text)).to.deep.equal(errors);
    });
  }

  it('are at most 1,000, and the number of the others', () => {
    const errors = errorLines('a: 1\n'.repeat(700));

    expect(errors).to.have.length(1_001);
    expect(errors.at(-1)).to.equal('500:1 and 402 more errors from here on');
  });
});

describe('the size of a call', () => {
  const ofBytes = (bytes: number, character = 'x') => {
    const rest = bytes - '{"tool":""}'.length;
    const count = Math.floor(rest / Buffer.byteLength(character));
    const pad = 'x'.repeat(rest - count * Buffer.byteLength(character));
    return `{"tool":"${pad}${character.repeat(count)}"}`;
  };
  for (const character of ['x', 'é', '€', '😀']) {
    it(`is 262,144 bytes of ${character} at most, as text and as bytes`, () => {
      const [fits, over] = [ofBytes(262_144, character), ofBytes(262_145, character)];

      expect([fits, Buffer.from(fits)].map((call) => readCall(call).ok)).to.deep.equal([true, true]);
      expect([over, Buffer.from(over)].map(readCall)).to.deep.equal(
        [0, 1].map(() => ({ ok: false, code: 'too_large' })),
      );
    });
  }
});
