import { hash } from 'node:crypto';

/** SHA-256 as 64 hex characters; a string is hashed as UTF-8. */
export function sha256Hex(input: string | Uint8Array): string {
  return hash('sha256', input);
}
