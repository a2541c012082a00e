import type { Bound, Decimal } from '../../client/policy/language/index.ts';

/** More than any call can contain, so it means unbounded. */
const LENGTH_MAX = 0x7fff_ffff;
const NEVER = { least: 1, most: 0 };

type LengthRange = { least: number; most: number };

/** Merges all bounds of a `length` operator into one range of whole numbers. */
export function lengthRange(bounds: readonly Bound[]): LengthRange {
  let least = 0;
  let most = LENGTH_MAX;
  for (const bound of bounds) {
    const range = rangeOf(bound);
    least = Math.max(least, range.least);
    most = Math.min(most, range.most);
  }
  return most < least ? NEVER : { least, most };
}

function rangeOf({ relation, value }: Bound): LengthRange {
  const floor = floorOf(value);
  const isWhole = value.digits.length <= value.exponent || value.digits === '';
  switch (relation) {
    case 'eq':
      return isWhole ? { least: floor, most: floor } : NEVER;
    case 'lt':
      return { least: 0, most: isWhole ? floor - 1 : floor };
    case 'lte':
      return { least: 0, most: floor };
    case 'gt':
      return { least: floor + 1, most: LENGTH_MAX };
    default:
      return { least: isWhole ? floor : floor + 1, most: LENGTH_MAX };
  }
}

/** The whole part, clamped to -1 and LENGTH_MAX. */
function floorOf({ negative, digits, exponent }: Decimal): number {
  if (negative) return -1;
  if (exponent > 10) return LENGTH_MAX;
  if (exponent <= 0) return 0;
  return Math.min(Number(digits.slice(0, exponent).padEnd(exponent, '0')), LENGTH_MAX);
}
