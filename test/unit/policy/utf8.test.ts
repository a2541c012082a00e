import { expect } from 'chai';
import {
  codePointCount,
  compareUtf8,
  foldAscii,
  isLowSurrogate,
  utf8Length,
} from '../../../client/policy/language/utf8.ts';

describe('UTF-8', () => {
  const counts: [string, number, number][] = [
    ['', 0, 0],
    ['ab', 2, 2],
    ['é', 1, 2],
    ['€x', 2, 4],
    ['😀😀', 2, 8],
  ];
  for (const [text, codePoints, bytes] of counts) {
    it(`"${text}" has ${codePoints} code points and ${bytes} bytes`, () => {
      expect([codePointCount(text), utf8Length(text)]).to.deep.equal([codePoints, bytes]);
    });
  }

  it('knows the low halves of surrogate pairs', () => {
    const units = [0xdbff, 0xdc00, 0xdfff, 0xe000];

    expect(units.map(isLowSurrogate)).to.deep.equal([false, true, true, false]);
  });

  it('orders by bytes, a prefix first', () => {
    const ordered = ['', 'A', 'Z', 'a', 'ab', 'abc', 'b', 'é', 'éa', '\uffff', '😀', '😀a'];
    ordered.forEach((a, at) =>
      ordered.forEach((b, other) =>
        expect(Math.sign(compareUtf8(a, b)), `${a} and ${b}`).to.equal(Math.sign(at - other)),
      ),
    );
  });

  it('folds only A to Z', () => {
    expect(foldAscii('AbCXYZ[@éÉİ')).to.equal('abcxyz[@éÉİ');
  });
});
