// Reads may run up to seven bytes past the end. The input and the tail leave room for that.

export function equalBytes(a: usize, b: usize, length: usize): bool {
  let left = length;
  while (left >= 8) {
    if (load<u64>(a) != load<u64>(b)) return false;
    a += 8;
    b += 8;
    left -= 8;
  }
  return left == 0 || (load<u64>(a) ^ load<u64>(b)) << (((8 - left) as u64) << 3) == 0;
}

/** Compares byte by byte, then by length. Returns a number below, equal to or above zero. */
export function compareBytes(a: usize, aLength: usize, b: usize, bLength: usize): i32 {
  const shared = aLength < bLength ? aLength : bLength;
  let index: usize = 0;
  while (index + 8 <= shared && load<u64>(a + index) == load<u64>(b + index)) index += 8;
  while (index < shared) {
    const difference = (load<u8>(a + index) as i32) - (load<u8>(b + index) as i32);
    if (difference != 0) return difference;
    index += 1;
  }
  return (aLength as i32) - (bLength as i32);
}

export function copyBytes(to: usize, from: usize, length: usize): void {
  if (length > 64) {
    memory.copy(to, from, length);
    return;
  }
  let index: usize = 0;
  while (index + 8 <= length) {
    store<u64>(to + index, load<u64>(from + index));
    index += 8;
  }
  while (index < length) {
    store<u8>(to + index, load<u8>(from + index));
    index += 1;
  }
}

/** The lower case of a byte, for ignore_case: A to Z only. */
export function foldByte(byte: u32): u32 {
  return byte - 0x41 < 26 ? byte | 0x20 : byte;
}

/** Whether a byte is the second, third or fourth byte of a code point. */
export function isContinuation(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}
