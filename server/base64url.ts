/**
 * Whether a text is base64url without padding in its only spelling (RFC 4648 section 3.5): decoders ignore padding and the unused bits
 * of the last digit.
 */
export function isBase64url(text: string): boolean {
  return Buffer.from(text, 'base64url').toString('base64url') === text;
}
