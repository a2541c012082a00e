import { recordHashText, type RecordParts } from '../../client/policy/language/index.ts';
import { sha256Hex } from '../sha256.ts';

/** A hash that changes with every part of an agent's record (docs/policy.md, "Bundle"). */
export function recordHash(parts: RecordParts): string {
  return sha256Hex(recordHashText(parts));
}
