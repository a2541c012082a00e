// JSON strings: validated as UTF-8 and unescaped in place, since no escape is shorter than its character in UTF-8.
import { isContinuation } from './bytes';

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;

let text: usize = 0;
let textLength: usize = 0;

/** The string that readString parsed last. */
export function textStart(): usize {
  return text;
}

export function textBytes(): usize {
  return textLength;
}

/** Parses the string whose opening quote is at `start`. Returns the address after it, or 0 for bad JSON. */
export function readString(start: usize): usize {
  let from = skipPlain(start + 1);
  let to = from;
  while (load<u8>(from) == BACKSLASH) {
    from = readEscape(from, to);
    if (from == 0) return 0;
    to += utf8Length(codePoint);
    const end = skipPlain(from);
    memory.copy(to, from, end - from);
    to += end - from;
    from = end;
  }
  if (load<u8>(from) != QUOTE) return 0;
  text = start + 1;
  textLength = to - text;
  return from + 1;
}

/** The first byte that is not plain text: a quote, a backslash, a control character or invalid UTF-8. */
function skipPlain(start: usize): usize {
  let at = start;
  while (true) {
    const word = load<u64>(at);
    const quotes = word ^ 0x2222222222222222;
    const backslashes = word ^ 0x5c5c5c5c5c5c5c5c;
    // Eight bytes at once. A borrow may mark a byte wrongly, but never one before the first correct mark.
    const marks =
      ((word - 0x2020202020202020) |
        (quotes - 0x0101010101010101) |
        (backslashes - 0x0101010101010101) |
        word) &
      0x8080808080808080;
    if (marks == 0) {
      at += 8;
      continue;
    }
    at += (ctz(marks) >> 3) as usize;
    const bytes = multibyteLength(at);
    if (bytes == 0) return at;
    at += bytes;
  }
}

/** The length of a well-formed sequence of two to four bytes, or 0. */
function multibyteLength(at: usize): usize {
  const first = load<u8>(at) as u32;
  if (first < 0xc2 || first > 0xf4) return 0;
  const second = load<u8>(at + 1) as u32;
  if (!isContinuation(second)) return 0;
  if (first < 0xe0) return 2;
  if (!isContinuation(load<u8>(at + 2))) return 0;
  if (first < 0xf0) {
    // Overlong forms and surrogates.
    if (first == 0xe0 && second < 0xa0) return 0;
    return first == 0xed && second > 0x9f ? 0 : 3;
  }
  if (!isContinuation(load<u8>(at + 3))) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  return first == 0xf4 && second > 0x8f ? 0 : 4;
}

let codePoint: u32 = 0;

/** Writes the character of the escape at `from` to `to`. Returns the address after it, or 0 for bad JSON. */
function readEscape(from: usize, to: usize): usize {
  const letter = load<u8>(from + 1) as u32;
  if (letter == 0x75) return readUnicodeEscape(from, to);
  codePoint = simpleEscape(letter);
  if (codePoint == 0) return 0;
  store<u8>(to, codePoint as u8);
  return from + 2;
}

function simpleEscape(letter: u32): u32 {
  if (letter == QUOTE || letter == BACKSLASH || letter == 0x2f) return letter;
  if (letter == 0x62) return 8;
  if (letter == 0x66) return 12;
  if (letter == 0x6e) return 10;
  if (letter == 0x72) return 13;
  return letter == 0x74 ? 9 : 0;
}

const NO_UNIT: u32 = 0xffffffff;

function readUnicodeEscape(from: usize, to: usize): usize {
  const unit = readUnit(from);
  if (unit == NO_UNIT || (unit & 0xfc00) == 0xdc00) return 0;
  let next = from + 6;
  codePoint = unit;
  if ((unit & 0xfc00) == 0xd800) {
    if (load<u16>(next) != 0x755c) return 0;
    const low = readUnit(next);
    if (low == NO_UNIT || (low & 0xfc00) != 0xdc00) return 0;
    codePoint = 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
    next += 6;
  }
  writeUtf8(to, codePoint);
  return next;
}

function readUnit(escape: usize): u32 {
  let unit: u32 = 0;
  for (let index: usize = 2; index < 6; index += 1) {
    const byte = load<u8>(escape + index) as u32;
    const digit = byte - 0x30;
    const letter = (byte | 0x20) - 0x61;
    if (digit >= 10 && letter >= 6) return NO_UNIT;
    unit = (unit << 4) | (digit < 10 ? digit : letter + 10);
  }
  return unit;
}

function utf8Length(point: u32): usize {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function writeUtf8(to: usize, point: u32): void {
  if (point < 0x80) {
    store<u8>(to, point as u8);
    return;
  }
  const bytes = utf8Length(point);
  let left = point;
  for (let index = bytes - 1; index > 0; index -= 1) {
    store<u8>(to + index, (0x80 | (left & 0x3f)) as u8);
    left >>= 6;
  }
  const lead: u32 = bytes == 2 ? 0xc0 : bytes == 3 ? 0xe0 : 0xf0;
  store<u8>(to, (lead | left) as u8);
}
