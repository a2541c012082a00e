import { createHash } from 'node:crypto';

/** Turns words of any length and characters into a file name. */
export function hashedName(...words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32);
}
