/** An unsigned number in LEB128, the encoding of lengths in WebAssembly and RowBinary, and where it ends. */
export function readLeb128(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let at = start; ; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) throw new RangeError('The number does not end');
    value += (byte & 0x7f) * 2 ** (7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
}
