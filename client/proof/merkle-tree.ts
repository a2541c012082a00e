import { sha256 } from '@noble/hashes/sha2.js';
import { utf8From } from '../policy/language/utf8.ts';
import { concat } from './bytes.ts';

export const HASH_BYTES = 32;

/** The root of a tree without leaves (RFC 6962 section 2.1): the hash of nothing. */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array());

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** The log entry of a record: SHA-256 of its salt (16 bytes) and its line in the NDJSON export, without newline. */
export function entryOf(salt: Uint8Array, line: string): Uint8Array {
  return sha256(concat(salt, utf8From(line)));
}

/** The hash of a leaf (RFC 6962 section 2.1). */
export function leafHash(entry: Uint8Array): Uint8Array {
  return sha256(concat(LEAF, entry));
}

/** The hash of an inner node (RFC 6962 section 2.1). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(NODE, left, right));
}

/** The root of a tree over these hashes of leaves, or of complete subtrees of one size. */
export function rootOf(hashes: readonly Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at] as Uint8Array, level[at + 1]];
      above.push(right === undefined ? left : nodeHash(left, right));
    }
    level = above;
  }
  return level[0] ?? EMPTY_ROOT;
}

/** The right edge of a growing tree: gives its root after each leaf, in memory that grows with the logarithm of its size. */
export class Frontier {
  /** The roots of the complete subtrees, the largest first. */
  readonly #roots: Uint8Array[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(leaf: Uint8Array): void {
    let hash = leaf;
    for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2)
      hash = nodeHash(this.#roots.pop() as Uint8Array, hash);
    this.#roots.push(hash);
    this.#size += 1;
  }

  root(): Uint8Array {
    const [last = EMPTY_ROOT, ...others] = this.#roots.toReversed();
    return others.reduce((right, left) => nodeHash(left, right), last);
  }
}
