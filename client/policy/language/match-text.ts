import { literalSearch } from './literal-search.ts';
import type { LikePattern, LikeUnit } from './policy-ir.ts';
import { foldAscii, isLowSurrogate } from './utf8.ts';

export type TextTest = (text: string) => boolean;

/** Folds the text once if case is ignored. */
export function textTest(matches: TextTest, fold: boolean): TextTest {
  return fold ? (text) => matches(foldAscii(text)) : matches;
}

/** Compiles a `like` pattern; every part is searched in linear time. */
export function likeTest(pattern: LikePattern, fold: boolean): TextTest {
  const parts = pattern.map((part) => searchFrom(part, fold));
  const [first, ...others] = parts;
  const last = others.pop();
  if (first === undefined) return () => false;
  if (last === undefined) return textTest((text) => first.endAt(text, 0) === text.length, fold);
  return textTest((text) => {
    let position = first.endAt(text, 0);
    for (const part of others) {
      if (position < 0) return false;
      position = part.endAfter(text, position);
    }
    const lastStart = last.startBefore(text);
    return position >= 0 && lastStart >= position;
  }, fold);
}

/** Positions count UTF-16 units; a negative one means no match. */
type PartSearch = {
  endAt(text: string, position: number): number;
  endAfter(text: string, position: number): number;
  startBefore(text: string): number;
};

function searchFrom(part: LikeUnit[], fold: boolean): PartSearch {
  if (part.includes(null)) return wildSearch(part.map((unit) => unit && foldUnit(unit, fold)));
  const literal = part.map((unit) => String.fromCodePoint(unit ?? 0)).join('');
  return plainSearch(fold ? foldAscii(literal) : literal);
}

function foldUnit(unit: number, fold: boolean): number {
  return fold && unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit;
}

function plainSearch(literal: string): PartSearch {
  const indexIn = literalSearch(literal);
  return {
    endAt: (text, position) => (text.startsWith(literal, position) ? position + literal.length : -1),
    endAfter: (text, position) => {
      const found = indexIn(text, position);
      return found < 0 ? -1 : found + literal.length;
    },
    startBefore: (text) => (text.endsWith(literal) ? text.length - literal.length : -1),
  };
}

function wildSearch(part: LikeUnit[]): PartSearch {
  const endAt = (text: string, start: number): number => {
    let position = start;
    for (const unit of part) {
      const codePoint = text.codePointAt(position);
      if (codePoint === undefined || (unit !== null && unit !== codePoint)) return -1;
      position += codePoint > 0xffff ? 2 : 1;
    }
    return position;
  };
  return {
    endAt,
    endAfter: shiftAndSearch(part),
    startBefore: (text) => {
      let start = text.length;
      for (let left = part.length; left > 0; left -= 1) {
        start -= isLowSurrogate(text.charCodeAt(start - 1)) ? 2 : 1;
      }
      return start >= 0 && endAt(text, start) === text.length ? start : -1;
    },
  };
}

/**
 * Returns the end of the first match after a position. Shift-And: bit i of the state is set if the first i + 1 units match up to here, so
 * each code point costs one step.
 */
function shiftAndSearch(part: LikeUnit[]): (text: string, position: number) => number {
  const anyUnit = maskWhere(part, (unit) => unit === null);
  const masks = new Map(part.map((unit) => [unit, anyUnit | maskWhere(part, (other) => other === unit)]));
  const accepted = 1n << BigInt(part.length - 1);
  return (text, start) => {
    let state = 0n;
    let position = start;
    while (position < text.length) {
      const codePoint = text.codePointAt(position) ?? 0;
      position += codePoint > 0xffff ? 2 : 1;
      state = ((state << 1n) | 1n) & (masks.get(codePoint) ?? anyUnit);
      if ((state & accepted) !== 0n) return position;
    }
    return -1;
  };
}

function maskWhere(part: LikeUnit[], holds: (unit: LikeUnit) => boolean): bigint {
  return part.reduce<bigint>((mask, unit, index) => (holds(unit) ? mask | (1n << BigInt(index)) : mask), 0n);
}
