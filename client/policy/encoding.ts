import { isObject } from '../json.ts';
import { PolicyError, type PolicyErrorCode } from '../errors.ts';

/** Decodes base64 or base64url, padded or not; undefined for any other text. */
export function bytesFromBase64(text: string): Uint8Array | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Without padding. */
export function base64urlFrom(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

/** Parses the text of a JSON object; otherwise throws a PolicyError with this code. */
export function parseJsonObject(
  text: string,
  { code, what }: { code: PolicyErrorCode; what: string },
): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (cause) {
    throw new PolicyError(code, `${what} is not JSON`, { cause });
  }
  throw new PolicyError(code, `${what} is not a JSON object`);
}
