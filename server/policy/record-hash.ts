import { createHash } from 'node:crypto';
import { recordHashText, type RecordParts } from '../../client/policy/language/index.ts';

/** POLICY 4: 64 hex characters that change with every part of an agent's record. */
export function recordHash(parts: RecordParts): string {
  return sha256Hex(recordHashText(parts));
}

export function sha256Hex(input: string | Uint8Array): string {
  return createHash('sha256').update(input).digest('hex');
}
