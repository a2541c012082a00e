/**
 * Knuth, Morris and Pratt's table: for each prefix of the bytes the length of its longest proper border,
 * as little-endian 16-bit numbers.
 */
export function failureTable(bytes: Uint8Array): Uint8Array {
  const table = new Uint8Array(bytes.length * 2);
  const view = new DataView(table.buffer);
  let border = 0;
  for (let index = 1; index < bytes.length; index += 1) {
    while (border > 0 && bytes[index] !== bytes[border]) border = view.getUint16((border - 1) * 2, true);
    if (bytes[index] === bytes[border]) border += 1;
    view.setUint16(index * 2, border, true);
  }
  return table;
}
