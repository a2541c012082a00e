// Numbers are exact decimals: 0.DIGITS times ten to the exponent, without leading or trailing zeros. The digits stay in
// the input; only a decimal point between them is removed in place.
import { TYPE_NUMBER } from './layout';

const EXPONENT_DIGITS_MAX: usize = 6;
const POINT: u32 = 0x2e;

/** Parses the number at `start` into the value at `value`. Returns the address after it, or 0 for bad JSON. */
export function readNumber(start: usize, value: usize): usize {
  const isNegative = load<u8>(start) == 0x2d;
  const whole = isNegative ? start + 1 : start;
  const wholeEnd = skipDigits(whole);
  if (wholeEnd == whole || (load<u8>(whole) == 0x30 && wholeEnd - whole > 1)) return 0;
  let end = wholeEnd;
  if (load<u8>(end) == POINT) {
    end = skipDigits(wholeEnd + 1);
    if (end == wholeEnd + 1) return 0;
  }
  let next = end;
  let exponent: i32 = 0;
  if ((load<u8>(end) | 0x20) == 0x65) {
    next = readExponent(end + 1);
    if (next == 0) return 0;
    exponent = writtenExponent;
  }
  writeDecimal(value, whole, wholeEnd, end);
  if (load<u32>(value, 8) != 0) {
    store<u32>(value, TYPE_NUMBER | ((isNegative as u32) << 8));
    store<i32>(value, load<i32>(value, 12) + exponent, 12);
  }
  return next;
}

function skipDigits(start: usize): usize {
  let at = start;
  while ((load<u8>(at) as u32) - 0x30 < 10) at += 1;
  return at;
}

let writtenExponent: i32 = 0;

function readExponent(start: usize): usize {
  const sign = load<u8>(start) as u32;
  const digits = sign == 0x2b || sign == 0x2d ? start + 1 : start;
  const end = skipDigits(digits);
  if (end == digits || end - digits > EXPONENT_DIGITS_MAX) return 0;
  let exponent: i32 = 0;
  for (let at = digits; at < end; at += 1) exponent = exponent * 10 + (load<u8>(at) as i32) - 0x30;
  writtenExponent = sign == 0x2d ? -exponent : exponent;
  return end;
}

/** Writes the value of the digits from `whole` to `end`; a decimal point would be at `wholeEnd`. */
function writeDecimal(value: usize, whole: usize, wholeEnd: usize, end: usize): void {
  let first = whole;
  while (first < end && (load<u8>(first) == 0x30 || first == wholeEnd)) first += 1;
  let last = end;
  while (last > first && (load<u8>(last - 1) == 0x30 || last - 1 == wholeEnd)) last -= 1;
  let exponent = (wholeEnd as i32) - (first as i32);
  if (first > wholeEnd) exponent += 1;
  let length = last - first;
  if (first < wholeEnd && last > wholeEnd) {
    memory.copy(wholeEnd, wholeEnd + 1, last - wholeEnd - 1);
    length -= 1;
  }
  store<u32>(value, TYPE_NUMBER);
  store<u32>(value, first as u32, 4);
  store<u32>(value, length as u32, 8);
  store<i32>(value, length == 0 ? 0 : exponent, 12);
}

/** Below, equal to or above zero, as number `a` is less than, equal to or greater than number `b`. */
export function compareNumbers(a: usize, b: usize): i32 {
  const signs = signOf(a) - signOf(b);
  if (signs != 0) return signs;
  const magnitudes = compareMagnitudes(a, b);
  return load<u8>(a, 1) != 0 ? -magnitudes : magnitudes;
}

function signOf(value: usize): i32 {
  if (load<u32>(value, 8) == 0) return 0;
  return load<u8>(value, 1) != 0 ? -1 : 1;
}

function compareMagnitudes(a: usize, b: usize): i32 {
  const exponents = load<i32>(a, 12) - load<i32>(b, 12);
  if (exponents != 0) return exponents;
  const aDigits: usize = load<u32>(a, 4);
  const bDigits: usize = load<u32>(b, 4);
  const aLength: usize = load<u32>(a, 8);
  const bLength: usize = load<u32>(b, 8);
  const shared = aLength < bLength ? aLength : bLength;
  for (let index: usize = 0; index < shared; index += 1) {
    const difference = (load<u8>(aDigits + index) as i32) - (load<u8>(bDigits + index) as i32);
    if (difference != 0) return difference;
  }
  return (aLength as i32) - (bLength as i32);
}
