import { expect } from 'chai';
import { compareDecimals, decimalFrom, isJsonNumber } from '../../../client/policy/language/decimal.ts';

const decimal = (text: string) => {
  const value = decimalFrom(text);
  if (value === undefined) throw new Error(`${text} has no value`);
  return value;
};

describe('a decimal', () => {
  const zero = { negative: false, digits: '', exponent: 0 };
  const values: [string, object][] = [
    ['0', zero],
    ['-0', zero],
    ['0.000', zero],
    ['0e9', zero],
    ['7', { negative: false, digits: '7', exponent: 1 }],
    ['-120', { negative: true, digits: '12', exponent: 3 }],
    ['1200.0340', { negative: false, digits: '1200034', exponent: 4 }],
    ['0.00120', { negative: false, digits: '12', exponent: -2 }],
    ['1.5e3', { negative: false, digits: '15', exponent: 4 }],
    ['1.5E+3', { negative: false, digits: '15', exponent: 4 }],
    ['1.5e-3', { negative: false, digits: '15', exponent: -2 }],
    ['12e-10', { negative: false, digits: '12', exponent: -8 }],
    ['0.05e2', { negative: false, digits: '5', exponent: 1 }],
  ];
  for (const [text, fields] of values) {
    it(`reads ${text}`, () => {
      expect(decimalFrom(text)).to.deep.equal(fields);
    });
  }

  it('has an exponent of at most six digits', () => {
    expect(decimalFrom('1e999999')).to.deep.equal({
      negative: false,
      digits: '1',
      exponent: 1_000_000,
    });
    expect(decimalFrom('1e1000000')).to.equal(undefined);
  });

  it('is ordered exactly', () => {
    const ordered = [
      '-1e3',
      '-12',
      '-1.2',
      '-1.19',
      '-0.5',
      '0',
      '1e-9',
      '0.5',
      '1.19',
      '1.2',
      '1.20001',
      '12',
      '1e3',
    ];
    ordered.forEach((a, at) =>
      ordered.forEach((b, other) => {
        expect(Math.sign(compareDecimals(decimal(a), decimal(b))), `${a} and ${b}`).to.equal(
          Math.sign(at - other),
        );
      }),
    );
    expect(compareDecimals(decimal('1.50'), decimal('15e-1'))).to.equal(0);
  });

  for (const text of ['', '-', '01', '1.', '.5', '+1', '1e', '1e+', 'NaN', '1 ', '0x1']) {
    it(`"${text}" is no JSON number`, () => {
      expect(isJsonNumber(text)).to.equal(false);
    });
  }
});
