import { recordHashText, type RecordParts } from '../../client/policy/language/index.ts';
import { sha256Hex } from '../sha256.ts';

/** POLICY 4: 64 hex characters that change with every part of an agent's record. */
export function recordHash(parts: RecordParts): string {
  return sha256Hex(recordHashText(parts));
}
