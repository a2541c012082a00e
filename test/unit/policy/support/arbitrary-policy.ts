import fc from 'fast-check';
import { array, number, object, render, string, word, type Tree } from './json-tree.ts';
import { numberArbitrary, TEXTS, textArbitrary } from './arbitrary-values.ts';

export const TOOL_NAMES = ['search', 'transfer', '__proto__', 'constructor', 'é', '😀', '\uffee', 'b', 'search2']; // prettier-ignore
export const ROLE_NAMES = ['*', '', 'admin', 'editor', '__proto__', 'toString', '😀', '\uffee', 'é'];

const fieldNames = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', 'toString', 'length', '0', 'é');
const stepArbitrary = fc.oneof(
  { weight: 4, arbitrary: fieldNames.map(string) },
  { weight: 1, arbitrary: fc.nat({ max: 3 }).map((index) => number(String(index))) },
);
const pathArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'a.b', 'a[0]', 'b[1].a').map(string) },
  { weight: 1, arbitrary: fc.array(stepArbitrary, { minLength: 1, maxLength: 3 }).map(array) },
);

const literalText = textArbitrary.map(string);
const literalNumber = numberArbitrary.map(number);
const scalar = fc.oneof(
  literalText,
  literalNumber,
  fc.constantFrom(word('null'), word('true'), word('false')),
);
const needle = fc.constantFrom(...TEXTS.filter((text) => text !== '')).map(string);

function oneOrMany(item: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  return fc.oneof(item, uniqueList(item));
}

function uniqueList(item: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  // Numbers of one value in two spellings are duplicates, so a list takes one number at most.
  const selector = (tree: Tree): string => (tree.kind === 'number' ? 'number' : render(tree));
  return fc.uniqueArray(item, { minLength: 1, maxLength: 4, selector }).map(array);
}

const patternArbitrary = fc
  .array(fc.constantFrom('*', '?', '*', 'a', 'b', 'ab', 'A', 'é', '😀', '\\*', '\\?', '\\a', '/'), {
    maxLength: 7,
  })
  .map((parts) => string(parts.join('')));

const lengthArbitrary = fc
  .uniqueArray(fc.tuple(fc.constantFrom('eq', 'lt', 'lte', 'gt', 'gte'), literalNumber), {
    minLength: 1,
    maxLength: 3,
    selector: ([relation]) => relation,
  })
  .map(object);

const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'].map(string);

/** Every operator that needs no condition inside. */
export const plainOperatorArbitrary: fc.Arbitrary<[string, Tree]> = fc.oneof(
  { weight: 3, arbitrary: pair('exists', fc.constantFrom(word('true'), word('false'))) },
  pair('type', oneOrMany(fc.constantFrom(...TYPES))),
  pair('eq', scalar),
  pair('ne', scalar),
  pair('in', uniqueList(scalar)),
  pair('not_in', uniqueList(scalar)),
  pair('lt', literalNumber),
  pair('lte', literalNumber),
  pair('gt', literalNumber),
  pair('gte', literalNumber),
  pair('starts_with', oneOrMany(literalText)),
  pair('ends_with', oneOrMany(literalText)),
  pair('contains', oneOrMany(needle)),
  pair('like', patternArbitrary),
  pair('length', lengthArbitrary),
);

function pair(name: string, operand: fc.Arbitrary<Tree>): fc.Arbitrary<[string, Tree]> {
  return operand.map((tree) => [name, tree]);
}

const ignoreCase: fc.Arbitrary<[string, Tree][]> = fc.constantFrom<[string, Tree][]>(
  [],
  [],
  [['ignore_case', word('true')]],
);

function testArbitrary(paths: fc.Arbitrary<[string, Tree][]>, inner: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  const operator = fc.oneof(
    { weight: 9, arbitrary: plainOperatorArbitrary },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom('every', 'some'), inner) },
  );
  const operators = fc.uniqueArray(operator, { minLength: 1, maxLength: 2, selector: ([name]) => name });
  return fc
    .tuple(paths, operators, ignoreCase)
    .map(([path, tests, fold]) => object([...path, ...tests, ...fold]));
}

const rootPath = pathArbitrary.map((path): [string, Tree][] => [['arg', path]]);
const elementPath = fc.oneof(fc.constant<[string, Tree][]>([]), rootPath);

/** Conditions a few levels deep: on the arguments, and inside every/some on the element. */
export const conditionArbitrary: fc.Arbitrary<Tree> = fc.letrec<{ root: Tree; element: Tree }>((tie) => ({
  root: conditionOf(testArbitrary(rootPath, tie('element')), tie('root')),
  element: conditionOf(testArbitrary(elementPath, tie('element')), tie('element')),
})).root;

function conditionOf(test: fc.Arbitrary<Tree>, inner: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> {
  const list = fc.array(inner, { minLength: 1, maxLength: 3 }).map(array);
  return fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 5, arbitrary: test },
    { weight: 1, arbitrary: list.map((items) => object([['all', items]])) },
    { weight: 1, arbitrary: list.map((items) => object([['any', items]])) },
    { weight: 1, arbitrary: inner.map((one) => object([['not', one]])) },
  );
}
