import type { PathStep } from './policy-ir.ts';

/** Larger than any array that fits into a call. */
const INDEX_MAX = 0x7fff_ffff;
const NAME = /[^.[\]]+/y;
const INDEX = /\[(0|[1-9][0-9]*)\]/y;

/** Parses a path such as `a.b[0].c`; undefined for any other text. */
export function argumentPathFrom(text: string): PathStep[] | undefined {
  const steps: PathStep[] = [];
  let position = 0;
  while (position < text.length) {
    const pattern = text[position] === '[' ? INDEX : NAME;
    if (pattern === NAME && steps.length > 0) {
      if (text[position] !== '.') return undefined;
      position += 1;
    }
    pattern.lastIndex = position;
    const match = pattern.exec(text);
    if (match === null) return undefined;
    steps.push(match[1] === undefined ? match[0] : indexFrom(match[1]));
    position += match[0].length;
  }
  return steps.length === 0 ? undefined : steps;
}

export function indexFrom(digits: string): number {
  return Math.min(Number(digits), INDEX_MAX);
}
