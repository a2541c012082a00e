// `like`: the parts between the stars. Byte 0xff, which no UTF-8 text contains, stands for `?`: one code point.
import { foldByte, isContinuation } from './bytes';
import { heapEnd } from './json';
import { findText } from './text';

const ANY: u32 = 0xff;
const PART_BYTES: usize = 12;

/** A part has an address, a length and, if it is searched for and has no `?`, a failure table. */
export function likeMatches(parts: usize, count: u32, text: usize, length: usize, fold: bool): bool {
  const end = text + length;
  let at = endOfPart(parts, text, end, fold);
  if (count == 1) return at == end;
  const last = parts + ((count - 1) as usize) * PART_BYTES;
  for (let part = parts + PART_BYTES; part < last; part += PART_BYTES) {
    if (at == 0) return false;
    at = load<u32>(part, 8) == 0 ? findWild(part, at, end, fold) : findText(at, end, part, fold);
  }
  if (at == 0) return false;
  const start = startOfLast(last, at, end);
  return start != 0 && endOfPart(last, start, end, fold) == end;
}

/** The end of a part that begins at `text`, or 0 if the part does not match. */
function endOfPart(part: usize, text: usize, end: usize, fold: bool): usize {
  let at = text;
  let unit: usize = load<u32>(part);
  const unitsEnd = unit + load<u32>(part, 4);
  while (unit < unitsEnd) {
    if (at >= end) return 0;
    const wanted = load<u8>(unit) as u32;
    unit += 1;
    let byte = load<u8>(at) as u32;
    at += 1;
    if (wanted == ANY) {
      while (at < end && isContinuation(load<u8>(at))) at += 1;
    } else {
      if (fold) byte = foldByte(byte);
      if (byte != wanted) return 0;
    }
  }
  return at;
}

/** Where the last part must begin to end with the text; 0 if that is before `from`. */
function startOfLast(part: usize, from: usize, end: usize): usize {
  let at = end;
  let unit: usize = load<u32>(part) + load<u32>(part, 4);
  const unitsStart: usize = load<u32>(part);
  while (unit > unitsStart) {
    if (at <= from) return 0;
    unit -= 1;
    at -= 1;
    if (load<u8>(unit) == ANY) while (at > from && isContinuation(load<u8>(at))) at -= 1;
  }
  return at;
}

/**
 * The end of the first match of a part with `?`, or 0. Shift-And: bit i of the state means that the first i + 1 units
 * match up to here. The masks, one row of words per byte, are in the tail of memory.
 */
function findWild(part: usize, text: usize, end: usize, fold: bool): usize {
  const length: usize = load<u32>(part, 4);
  const words = (length + 31) >> 5;
  const row = words << 2;
  const masks = (heapEnd() + 7) & ~7;
  const wild = masks + 256 * row;
  const state = wild + row;
  memory.fill(masks, 0, 258 * row);
  fillMasks(load<u32>(part), length, masks, wild, row);
  const acceptWord = state + (((length - 1) >> 5) << 2);
  const acceptBit: u32 = 1 << (((length - 1) & 31) as u32);
  for (let at = text; at < end; at += 1) {
    let byte = load<u8>(at) as u32;
    if (fold) byte = foldByte(byte);
    advance(state, masks + (byte as usize) * row, wild, row, isContinuation(byte));
    if ((load<u32>(acceptWord) & acceptBit) != 0) return endOfCodePoint(at + 1, end);
  }
  return 0;
}

function fillMasks(units: usize, length: usize, masks: usize, wild: usize, row: usize): void {
  for (let index: usize = 0; index < length; index += 1) {
    const unit = load<u8>(units + index) as u32;
    const offset = (index >> 5) << 2;
    const bit: u32 = 1 << ((index & 31) as u32);
    if (unit != ANY) {
      setBit(masks + (unit as usize) * row + offset, bit);
      continue;
    }
    setBit(wild + offset, bit);
    // `?` matches any byte that starts a code point.
    for (let byte: usize = 0; byte < 256; byte += 1) {
      if (!isContinuation(byte as u32)) setBit(masks + byte * row + offset, bit);
    }
  }
}

function setBit(word: usize, bit: u32): void {
  store<u32>(word, load<u32>(word) | bit);
}

/** Advances by one byte: partial matches grow by one unit, and a `?` continues to the end of its code point. */
function advance(state: usize, mask: usize, wild: usize, row: usize, goesOn: bool): void {
  let carry: u32 = 1;
  for (let offset: usize = 0; offset < row; offset += 4) {
    const word = load<u32>(state + offset);
    let next = ((word << 1) | carry) & load<u32>(mask + offset);
    if (goesOn) next |= word & load<u32>(wild + offset);
    carry = word >> 31;
    store<u32>(state + offset, next);
  }
}

function endOfCodePoint(start: usize, end: usize): usize {
  let at = start;
  while (at < end && isContinuation(load<u8>(at))) at += 1;
  return at;
}
