import { areEqual } from './bytes.ts';
import { HASH_BYTES, nodeHash } from './merkle-tree.ts';

type Inclusion = { index: number; size: number; leaf: Uint8Array; proof: readonly Uint8Array[] };
type Consistency = {
  fromSize: number;
  fromRoot: Uint8Array;
  toSize: number;
  toRoot: Uint8Array;
  proof: readonly Uint8Array[];
};

/**
 * Whether the leaf (its hash) is at this index of the tree with this size and root (RFC 9162 section 2.1.3.2; the proof is that of RFC 6962
 * section 2.1.1).
 */
export function verifyInclusion({ root, ...inclusion }: Inclusion & { root: Uint8Array }): boolean {
  const proven = rootFromInclusion(inclusion);
  return proven !== undefined && areEqual(proven, root);
}

/** The root that the proof results in; undefined when the proof does not fit index and size. */
export function rootFromInclusion({ index, size, leaf, proof }: Inclusion): Uint8Array | undefined {
  if (!isIndexOf(index, size) || !areHashes([leaf, ...proof])) return undefined;
  const path = new Path(index, size - 1);
  let root = leaf;
  for (const hash of proof) {
    if (path.isAtRoot) return undefined;
    root = path.isRight ? nodeHash(hash, root) : nodeHash(root, hash);
    path.climb();
  }
  return path.isAtRoot ? root : undefined;
}

/**
 * Whether the larger tree begins with all leaves of the smaller one (RFC 9162 section 2.1.4.2; the proof is that of RFC 6962 section
 * 2.1.2). False for a smaller tree of size 0: every tree extends it, so a proof would say nothing.
 */
export function verifyConsistency({ fromSize, fromRoot, toSize, toRoot, proof }: Consistency): boolean {
  if (!isIndexOf(fromSize - 1, toSize)) return false;
  if (fromSize === toSize) return proof.length === 0 && areEqual(fromRoot, toRoot);
  if (proof.length === 0) return false;
  if (!areHashes([fromRoot, toRoot, ...proof])) return false;
  const path = new Path(fromSize - 1, toSize - 1);
  path.skipRight();
  // A smaller tree that is complete is a node of the larger one, which the proof does not repeat.
  const hashes = path.isAtLeft ? [fromRoot, ...proof] : proof;
  const [first, ...others] = hashes as [Uint8Array, ...Uint8Array[]];
  let [from, to] = [first, first];
  for (const hash of others) {
    if (path.isAtRoot) return false;
    if (path.isRight) [from, to] = [nodeHash(hash, from), nodeHash(hash, to)];
    else to = nodeHash(to, hash);
    path.climb();
  }
  return path.isAtRoot && areEqual(from, fromRoot) && areEqual(to, toRoot);
}

/** The path from a node to the root, along with the path of the last node. Uses division, because sizes have up to 53 bits. */
class Path {
  #node: number;
  #last: number;

  constructor(node: number, last: number) {
    this.#node = node;
    this.#last = last;
  }

  get isAtRoot(): boolean {
    return this.#last === 0;
  }

  get isAtLeft(): boolean {
    return this.#node === 0;
  }

  /** Whether the next hash of a proof is the left sibling. */
  get isRight(): boolean {
    return this.#node % 2 === 1 || this.#node === this.#last;
  }

  /** Goes to the parent. The last node of a level without a sibling is its own parent. */
  climb(): void {
    if (this.#node === this.#last) while (this.#node % 2 === 0 && this.#node > 0) this.#up();
    this.#up();
  }

  /** Goes up while the node is a right child: to the root of the complete subtree that ends with it. */
  skipRight(): void {
    while (this.#node % 2 === 1) this.#up();
  }

  #up(): void {
    this.#node = Math.floor(this.#node / 2);
    this.#last = Math.floor(this.#last / 2);
  }
}

function isIndexOf(index: number, size: number): boolean {
  return Number.isSafeInteger(index) && Number.isSafeInteger(size) && index >= 0 && index < size;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every(({ length }) => length === HASH_BYTES);
}
