import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/**
 * 256 random bits as 43 characters that are safe in a link and a cookie. Stored as a plain SHA-256 hash, which is enough because they cannot
 * be guessed.
 */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}
