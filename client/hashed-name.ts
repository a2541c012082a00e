import { createHash } from 'node:crypto';

/** Names words in a file name, whatever their length and characters. */
export function hashedName(...words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32);
}
