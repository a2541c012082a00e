import fc from 'fast-check';
import { array, number, object, string, word, type Tree } from './json-tree.ts';

/** Names of prototype members, and names that look like an index. */
const NAMES = ['a', 'b', 'c', '__proto__', 'constructor', 'toString', 'length', '0', '1', 'é', '😀', '']; // prettier-ignore

export const TEXTS = [
  '', 'a', 'A', 'b', 'ab', 'AB', 'abc', 'ABC', 'aab', 'aaab', 'xaabx', 'abcabc', 'a.b', '/etc/passwd', '/ETC/', 'é', 'É', 'éa',
  'ß', 'SS', '\u212a', 'k', 'K', 'İ', 'i', '😀', 'a😀b', '😀😀', '\ufffd', '\uffff', '日本語', '\u0000', '\u007f', '"', '\\', '/', '*', '?',
  'a\nb', '\ufeff', 'null', 'true', '1', '10', 'aXbXc', 'e\u0301', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\u{10ffff}',
]; // prettier-ignore

const NUMBERS = [
  '0', '-0', '0.0', '-0.0e5', '1', '-1', '1.0', '1.00', '10', '1e1', '1E1', '1e+1', '0.1', '1e-1', '0.10', '100', '1e2', '0.01',
  '2', '3', '4', '5', '1.5', '-1.5', '15e-1', '9007199254740992', '9007199254740993', '-9007199254740993', '1e400', '1e401',
  '123456789012345678901234567890', '123456789012345678901234567891', '1e999999', '1e-999999', '10e999998', '0e999999', '0.001e3',
]; // prettier-ignore

/** Values that a hostile call may contain: an exponent that is too long, half a surrogate pair, and invalid JSON. */
const ODD_VALUES = [
  '1e1000000', '1e0000001', '1e000001', '0e9999999', '01', '+1', '.5', '5.', '1e', '-', '0x10', 'NaN', '1_0', 'nul', 'falsy',
  '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"', '"\\ud83dx"', '"\\u00g0"', '"\\x"', '"a\tb"', '"', "'a'", '[1,]', '{"a":1,}',
]; // prettier-ignore

export const textArbitrary = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...TEXTS) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: fc.constantFrom('a', 'b', 'A', 'é', '😀', '*', '?'), maxLength: 9 }),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
);

export const numberArbitrary = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...NUMBERS) },
  {
    weight: 1,
    arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  },
  { weight: 1, arbitrary: fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String) },
);

const nameArbitrary = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: textArbitrary },
);

const scalarArbitrary: fc.Arbitrary<Tree> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(word('null'), word('true'), word('false')) },
  { weight: 3, arbitrary: textArbitrary.map(string) },
  { weight: 3, arbitrary: numberArbitrary.map(number) },
);

/** Values of calls; now and then a key comes twice. */
export const valueArbitrary: fc.Arbitrary<Tree> = fc.letrec<{ value: Tree }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 4, arbitrary: scalarArbitrary },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 4 }).map(array) },
    { weight: 1, arbitrary: membersOf(tie('value')).map(object) },
  ),
})).value;

/** A few names, each once; one object in twelve repeats one. Some have more members than are kept unsorted. */
export function membersOf(value: fc.Arbitrary<Tree>): fc.Arbitrary<[string, Tree][]> {
  const member = fc.tuple(nameArbitrary, value);
  const members = fc.uniqueArray(member, { selector: ([name]) => name, maxLength: 11, size: 'small' });
  return fc.tuple(members, fc.nat({ max: 11 })).map(([list, luck]) => {
    const [first] = list;
    return luck === 0 && first !== undefined ? [...list, first] : list;
  });
}

export const oddValueArbitrary = fc.constantFrom(...ODD_VALUES).map(word);
