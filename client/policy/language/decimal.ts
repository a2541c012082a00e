import { EXPONENT_DIGITS_MAX } from './limits.ts';
import type { Relation } from './policy-ir.ts';

/**
 * An exact decimal: 0.DIGITS times ten to the exponent. Digits have no zero at either end, so that equal numbers have
 * equal fields. Zero has no digits, no sign and exponent 0.
 */
export type Decimal = { negative: boolean; digits: string; exponent: number };

const ZERO: Decimal = { negative: false, digits: '', exponent: 0 };
const JSON_NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?)([0-9]+))?$/;

export function isJsonNumber(text: string): boolean {
  return JSON_NUMBER.test(text);
}

/** Parses a number as JSON spells it; undefined if its exponent has too many digits. */
export function decimalFrom(text: string): Decimal | undefined {
  const [, sign, whole = '', fraction = '', exponentSign, exponentDigits = ''] = JSON_NUMBER.exec(text) ?? [];
  if (exponentDigits.length > EXPONENT_DIGITS_MAX) return undefined;
  const written = Number(exponentDigits) * (exponentSign === '-' ? -1 : 1);
  const all = whole + fraction;
  const first = all.search(/[1-9]/);
  if (first === -1) return ZERO;
  return {
    negative: sign === '-',
    digits: all.slice(first, lastSignificant(all) + 1),
    exponent: whole.length - first + written,
  };
}

/** Not with /0+$/, which takes quadratic time on a long run of zeros before another digit. */
function lastSignificant(digits: string): number {
  let index = digits.length - 1;
  while (digits.charCodeAt(index) === 0x30) index -= 1;
  return index;
}

/** Negative, zero or positive, as for Array.sort. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const signs = signOf(a) - signOf(b);
  if (signs !== 0) return signs;
  const magnitudes = compareMagnitudes(a, b);
  return a.negative ? -magnitudes : magnitudes;
}

function signOf(value: Decimal): number {
  if (value.digits === '') return 0;
  return value.negative ? -1 : 1;
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  if (a.exponent !== b.exponent) return a.exponent - b.exponent;
  if (a.digits === b.digits) return 0;
  // Without trailing zeros numbers compare as their digits do as text.
  return a.digits < b.digits ? -1 : 1;
}

/** Whether a comparison, as of `compareDecimals`, has the relation. */
export const RELATIONS: Record<Relation, (comparison: number) => boolean> = {
  eq: (comparison) => comparison === 0,
  lt: (comparison) => comparison < 0,
  lte: (comparison) => comparison <= 0,
  gt: (comparison) => comparison > 0,
  gte: (comparison) => comparison >= 0,
};
