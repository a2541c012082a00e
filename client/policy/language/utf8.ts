const encoder = new TextEncoder();
/** Undefined in a browser. Counts without writing the bytes. */
const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };

/** Lone surrogates become U+FFFD; the caller must refuse them before. */
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

/** In well-formed text such a unit never starts a code point. */
export function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00;
}

/** Compares by UTF-8 bytes, which is the order of code points, not of UTF-16 units. */
export function compareUtf8(a: string, b: string): number {
  const bytesA = utf8From(a);
  const bytesB = utf8From(b);
  const shared = Math.min(bytesA.length, bytesB.length);
  for (let index = 0; index < shared; index += 1) {
    const difference = (bytesA[index] ?? 0) - (bytesB[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return bytesA.length - bytesB.length;
}

/** Folds A to Z only, as ignore_case does. */
export function foldAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
