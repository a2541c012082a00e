// Compares text with literals. With ignore_case the literal is already folded; the text is folded as it is read.
import { equalBytes, foldByte, isContinuation } from './bytes';

export function equalsText(text: usize, length: usize, literal: usize, bytes: usize, fold: bool): bool {
  return length == bytes && matchesAt(text, literal, bytes, fold);
}

export function startsWithText(text: usize, length: usize, literal: usize, bytes: usize, fold: bool): bool {
  return length >= bytes && matchesAt(text, literal, bytes, fold);
}

export function endsWithText(text: usize, length: usize, literal: usize, bytes: usize, fold: bool): bool {
  return length >= bytes && matchesAt(text + length - bytes, literal, bytes, fold);
}

function matchesAt(text: usize, literal: usize, bytes: usize, fold: bool): bool {
  if (!fold) return equalBytes(text, literal, bytes);
  for (let index: usize = 0; index < bytes; index += 1) {
    if (foldByte(load<u8>(text + index)) != load<u8>(literal + index)) return false;
  }
  return true;
}

/** `literal` points to an address, a length and a failure table. */
export function containsText(text: usize, length: usize, literal: usize, fold: bool): bool {
  return findText(text, text + length, literal, fold) != 0;
}

/** The end of the first match in the text, or 0. Knuth, Morris and Pratt: linear time for any text and literal. */
export function findText(text: usize, end: usize, literal: usize, fold: bool): usize {
  const bytes: usize = load<u32>(literal);
  const length: usize = load<u32>(literal, 4);
  const failures: usize = load<u32>(literal, 8);
  const first = load<u8>(bytes) as u32;
  let matched: usize = 0;
  let at = text;
  while (at < end) {
    let byte = load<u8>(at) as u32;
    if (fold) byte = foldByte(byte);
    at += 1;
    if (matched == 0) {
      if (byte != first) continue;
    } else {
      while (matched > 0 && load<u8>(bytes + matched) != byte) {
        matched = load<u16>(failures + ((matched - 1) << 1));
      }
      if (load<u8>(bytes + matched) != byte) continue;
    }
    matched += 1;
    if (matched == length) return at;
  }
  return 0;
}

export function codePoints(text: usize, length: usize): usize {
  let count: usize = 0;
  let at = text;
  const end = text + length;
  while (at + 8 <= end) {
    const word = load<u64>(at);
    // A continuation byte has its top bit set and the next bit clear.
    const continuations = (word >> 7) & (~word >> 6) & 0x0101010101010101;
    count += 8 - (popcnt(continuations) as usize);
    at += 8;
  }
  while (at < end) {
    if (!isContinuation(load<u8>(at))) count += 1;
    at += 1;
  }
  return count;
}
