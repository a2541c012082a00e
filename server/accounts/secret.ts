import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../sha256.ts';

const SECRET_BYTES = 32;

/** 256 random bits as 43 characters that are safe in a link and a cookie. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** The stored form of a secret. Plain SHA-256 is enough, because 256 random bits cannot be guessed. */
export function hashOfSecret(secret: string): string {
  return sha256Hex(secret);
}
