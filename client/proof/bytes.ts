import { bytesFromBase64 } from '../policy/encoding.ts';

/** Standard base64 with padding (RFC 4648 section 4). */
export function base64From(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Decodes standard base64 with padding; undefined for any other spelling, so that each value has one text. */
export function bytesFromStrictBase64(text: string): Uint8Array | undefined {
  const bytes = bytesFromBase64(text);
  return bytes !== undefined && base64From(bytes) === text ? bytes : undefined;
}

/** Not in constant time: hashes and signatures are public. */
export function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The number of a decimal without leading zeros; undefined for any other text. */
export function numberFromDecimal(text: string): number | undefined {
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
