import { EMPTY_ROOT, nodeHash, rootOf } from './merkle-tree.ts';
import { ProofError } from './proof-error.ts';
import { hashesOfTile, type Tile, TILE_WIDTH, tileWidth } from './tiles.ts';

/** Returns the bytes of a tile. Each tile is read once per proof, with its width in the tree of the proof. */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>;

/** A range of leaves, end exclusive, that forms a node of the tree. */
type Range = { from: number; to: number };

const TILE_HEIGHT = 8;

/** The root of the first `size` leaves (RFC 6962 section 2.1). */
export async function treeRoot(size: number, readTile: ReadTile): Promise<Uint8Array> {
  if (size === 0) return EMPTY_ROOT;
  return new TileReader(size, readTile).rootOf({ from: 0, to: size });
}

/** The proof that a leaf is in the tree of this size (RFC 6962 section 2.1.1). */
export async function inclusionProof(
  { index, size }: { index: number; size: number },
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  if (index < 0 || index >= size) throw new ProofError(`There is no leaf ${index} in a tree of ${size}`);
  const siblings: Range[] = [];
  let node = { from: 0, to: size };
  while (node.to - node.from > 1) {
    const { left, right } = childrenOf(node);
    siblings.push(index < right.from ? right : left);
    node = index < right.from ? left : right;
  }
  return new TileReader(size, readTile).rootsOf(siblings.toReversed());
}

/** The proof that a tree extends a smaller one (RFC 6962 section 2.1.2). It is empty for a smaller tree of size 0. */
export async function consistencyProof(
  { fromSize, toSize }: { fromSize: number; toSize: number },
  readTile: ReadTile,
): Promise<Uint8Array[]> {
  if (fromSize > toSize)
    throw new ProofError(`A tree of ${toSize} leaves does not extend one of ${fromSize}`);
  if (fromSize === 0) return [];
  const nodes: Range[] = [];
  let node = { from: 0, to: toSize };
  while (node.to > fromSize) {
    const { left, right } = childrenOf(node);
    nodes.push(fromSize <= right.from ? right : left);
    node = fromSize <= right.from ? left : right;
  }
  // The verifier knows the root of the smaller tree, so the proof omits it if it is a node of the larger one.
  if (node.from > 0) nodes.push(node);
  return new TileReader(toSize, readTile).rootsOf(nodes.toReversed());
}

function childrenOf({ from, to }: Range): { left: Range; right: Range } {
  const middle = from + largestPowerBelow(to - from);
  return { left: { from, to: middle }, right: { from: middle, to } };
}

/** The largest power of two that is smaller than a number of leaves, which is at least 2. */
function largestPowerBelow(leaves: number): number {
  let power = 1;
  while (power * 2 < leaves) power *= 2;
  return power;
}

/** Computes nodes of a tree from its tiles. */
class TileReader {
  readonly #size: number;
  readonly #readTile: ReadTile;
  readonly #tiles = new Map<string, Promise<Uint8Array[]>>();

  constructor(size: number, readTile: ReadTile) {
    this.#size = size;
    this.#readTile = readTile;
  }

  rootsOf(nodes: Range[]): Promise<Uint8Array[]> {
    return Promise.all(nodes.map((node) => this.rootOf(node)));
  }

  /** A node is a row of complete subtrees, each larger than the next one. */
  async rootOf({ from, to }: Range): Promise<Uint8Array> {
    const subtrees: Promise<Uint8Array>[] = [];
    for (let start = from; start < to;) {
      let height = 0;
      while (start + 2 ** (height + 1) <= to) height += 1;
      subtrees.push(this.#complete(start, height));
      start += 2 ** height;
    }
    const roots = await Promise.all(subtrees);
    return roots.reduceRight((right, left) => nodeHash(left, right));
  }

  /** The root of a complete subtree of 2 ** height leaves. */
  async #complete(start: number, height: number): Promise<Uint8Array> {
    const level = Math.floor(height / TILE_HEIGHT);
    const first = start / TILE_WIDTH ** level;
    const index = Math.floor(first / TILE_WIDTH);
    const hashes = await this.#tile({ level, index });
    const at = first - index * TILE_WIDTH;
    return rootOf(hashes.slice(at, at + 2 ** (height - level * TILE_HEIGHT)));
  }

  #tile(place: Omit<Tile, 'width'>): Promise<Uint8Array[]> {
    const key = `${place.level}/${place.index}`;
    const known = this.#tiles.get(key);
    if (known !== undefined) return known;
    const tile = { ...place, width: tileWidth(this.#size, place) };
    const reading = this.#readTile(tile).then((bytes) => hashesOfTile(bytes, tile.width));
    this.#tiles.set(key, reading);
    return reading;
  }
}
