const encoder = new TextEncoder();
/** Undefined in a browser. Counts without writing the bytes. */
const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };

/** Lone surrogates become U+FFFD; the caller must refuse them first. */
export function utf8From(text: string): Uint8Array {
  return encoder.encode(text);
}

export function utf8Length(text: string): number {
  return Buffer?.byteLength(text) ?? encoder.encode(text).length;
}

export function codePointCount(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (!isLowSurrogate(text.charCodeAt(index))) count += 1;
  }
  return count;
}

/** In well-formed text, such a unit never starts a code point. */
export function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/** Compares by UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const [bytesA, bytesB] = [utf8From(a), utf8From(b)];
  const at = bytesA.findIndex((byte, index) => byte !== bytesB[index]);
  return at === -1 ? bytesA.length - bytesB.length : (bytesA[at] ?? 0) - (bytesB[at] ?? -1);
}

/** Folds A to Z only, as ignore_case does. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
