import { hash } from 'node:crypto';

export const HASH_BYTES = 32;
/** Leaves of a subtree of level 1. */
export const SUBTREE = 256;

const LEAF = 0;
const NODE = 1;

/** The hashes of leaves (RFC 6962, section 2.1): 32 bytes each, concatenated. */
export function leafHashes(entries: Buffer): Buffer {
  const hashes = Buffer.allocUnsafe(entries.length);
  const input = Buffer.alloc(1 + HASH_BYTES, LEAF);
  for (let at = 0; at < entries.length; at += HASH_BYTES) {
    entries.copy(input, 1, at, at + HASH_BYTES);
    hash('sha256', input, 'buffer').copy(hashes, at);
  }
  return hashes;
}

/** The root over each 256 hashes. */
export function rootsOf256(hashes: Buffer): Buffer {
  let level = hashes;
  for (let width = SUBTREE; width > 1; width /= 2) level = nodeHashes(level);
  return level;
}

function nodeHashes(hashes: Buffer): Buffer {
  const nodes = Buffer.allocUnsafe(hashes.length / 2);
  const input = Buffer.alloc(1 + 2 * HASH_BYTES, NODE);
  for (let at = 0; at < nodes.length; at += HASH_BYTES) {
    hashes.copy(input, 1, 2 * at, 2 * at + 2 * HASH_BYTES);
    hash('sha256', input, 'buffer').copy(nodes, at);
  }
  return nodes;
}
