import { array, number, object, string, word, type Tree } from './json-tree.ts';

/** Values around an operator's operand, where engines differ most often. */
export function nearValues([operator, operand]: [string, Tree]): Tree[] {
  if (operator === 'length') return LENGTHS;
  if (operator === 'like' && operand.kind === 'string') return matchesOf(operand.text).map(string);
  return literalsOf(operand).flatMap(nearLiteral);
}

function literalsOf(tree: Tree): Tree[] {
  return tree.kind === 'array' ? tree.items : [tree];
}

function nearLiteral(tree: Tree): Tree[] {
  if (tree.kind === 'string') return nearText(tree.text).map(string);
  if (tree.kind === 'number') return nearNumber(tree.text).map(number);
  return [tree, string(tree.kind === 'word' ? tree.text : '')];
}

function nearText(text: string): string[] {
  const points = Array.from(text);
  const shorter = [points.slice(1), points.slice(0, -1)].map((rest) => rest.join(''));
  const longer = [`${text}a`, `😀${text}`, `a${text}é`, text + text];
  return [text, text.toUpperCase(), text.toLowerCase(), ...longer, ...shorter, text.normalize('NFD')];
}

function nearNumber(text: string): string[] {
  const [digits = '', exponent] = text.toLowerCase().split('e');
  const tail = exponent === undefined ? '' : `e${exponent}`;
  const longer = digits.includes('.') ? `${digits}0${tail}` : `${digits}.0${tail}`;
  const closer = digits.includes('.') ? `${digits}1${tail}` : `${digits}.1${tail}`;
  const next = digits.replace(/\d$/, (digit) => String((Number(digit) + 1) % 10));
  const opposite = text.startsWith('-') ? text.slice(1) : `-${text}`;
  return [text, longer, closer, next + tail, opposite];
}

const LENGTHS: Tree[] = [
  ...['', '😀', 'é', 'a😀', '😀😀', 'e\u0301é', 'abc', '😀b😀é', 'abcdefghij', '日本語日本語日本語日'].map(
    string,
  ),
  ...[0, 1, 2, 3, 5, 10].map((count) => array(nulls(count))),
  ...[0, 1, 2, 10].map((count) => object(nulls(count).map((item, index) => [String(index), item]))),
];

function nulls(count: number): Tree[] {
  return Array.from({ length: count }, () => word('null'));
}

const RUNS = ['', 'a', 'ab', '😀', 'é*', 'xaabx'];
const POINTS = ['a', 'é', '😀', '?', 'A'];

/** Texts that a pattern matches, and others that it almost matches. */
function matchesOf(pattern: string): string[] {
  return RUNS.flatMap((run, index) => {
    const point = POINTS[index % POINTS.length] ?? '';
    const text = pattern.replace(/\\(.)|\*|\?/gsu, (token, escaped: string | undefined) => {
      if (escaped !== undefined) return escaped;
      return token === '*' ? run : point;
    });
    return [text, text.toUpperCase(), `${text}a`, `😀${text}`, Array.from(text).slice(1).join('')];
  });
}
