import { hash } from 'node:crypto';
import * as proof from '../../../client/proof/index.ts';
import { BrokenLogError, type LogDirectory } from './log-directory.ts';
import type { Progress } from './progress.ts';

const { HASH_BYTES, TILE_WIDTH } = proof;

type CheckTree = {
  head: proof.TreeHead;
  /** How many leaves the log had before. */
  earlierSize: number;
  /** Hashes of leaves to search for, in hex. */
  wanted: ReadonlySet<string>;
  progress: Progress;
};
export type CheckedTree = { earlierRoot: Buffer; found: Set<string> };

/**
 * Checks every tile against its leaves, and the leaves against the root of the head. Returns the root of the first leaves, and which of the
 * wanted ones the log has. Throws a BrokenLogError.
 */
export function checkTree(
  log: LogDirectory,
  { head, earlierSize, wanted, progress }: CheckTree,
): CheckedTree {
  const roots: Buffer[] = [];
  const found = new Set<string>();
  let rest: Buffer[] = [];
  let earlierRest: Buffer[] = [];
  for (const tile of tilesOfLevel(head.size, 0)) {
    const bytes = log.tile(tile);
    const leaves = hashesOf(bytes);
    checkEntries(log, tile, leaves);
    if (wanted.size > 0)
      for (const leaf of leaves) if (wanted.has(leaf.toString('hex'))) found.add(leaf.toString('hex'));
    if (tile.index === Math.floor(earlierSize / TILE_WIDTH))
      earlierRest = leaves.slice(0, earlierSize % TILE_WIDTH);
    if (tile.width === TILE_WIDTH) roots.push(rootOf(leaves));
    else rest = leaves;
    progress.report(tile.index * TILE_WIDTH + tile.width, head.size);
  }
  if (!rootOf(withRest(roots, rest)).equals(head.root))
    throw new BrokenLogError('the leaves do not add up to the root of the checkpoint');
  checkUpperLevels(log, head.size, roots);
  const earlierRoots = roots.slice(0, Math.floor(earlierSize / TILE_WIDTH));
  return { earlierRoot: rootOf(withRest(earlierRoots, earlierRest)), found };
}

function checkUpperLevels(log: LogDirectory, size: number, roots: Buffer[]): void {
  let hashes = roots;
  for (let level = 1; hashes.length > 0; level += 1) {
    const above: Buffer[] = [];
    for (const tile of tilesOfLevel(size, level)) {
      const expected = hashes.slice(tile.index * TILE_WIDTH, tile.index * TILE_WIDTH + tile.width);
      if (!log.tile(tile).equals(Buffer.concat(expected)))
        throw new BrokenLogError(`${proof.tilePath(tile)} is not that of its leaves`);
      if (tile.width === TILE_WIDTH) above.push(rootOf(expected));
    }
    hashes = above;
  }
}

function checkEntries(log: LogDirectory, tile: proof.Tile, leaves: Buffer[]): void {
  const entries = log.entries(tile);
  if (entries?.every((entry, at) => leafHash(entry).equals(leaves[at] as Buffer)) === false)
    throw new BrokenLogError(`${proof.bundlePath(tile)} does not hash to its leaves`);
}

const tilesOfLevel = (size: number, level: number): IteratorObject<proof.Tile> =>
  proof.tilesOfTree(size).filter((tile) => tile.level === level);

/** The last tile is a subtree like the others, only smaller. */
const withRest = (roots: Buffer[], rest: Buffer[]): Buffer[] =>
  rest.length === 0 ? roots : [...roots, rootOf(rest)];

function hashesOf(tile: Buffer): Buffer[] {
  return Array.from({ length: tile.length / HASH_BYTES }, (_, at) =>
    tile.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  );
}

/** The hash of a leaf (RFC 6962 section 2.1), by Node's crypto module, because there are millions of them. */
export function leafHash(entry: Uint8Array): Buffer {
  leaf.set(entry, 1);
  return hash('sha256', leaf.subarray(0, 1 + entry.length), 'buffer');
}

/** The input of the hash, for a leaf and for a node. */
const leaf = Buffer.alloc(1 + 0xffff);

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);
/** Like `proof.rootOf`, by Node's crypto module. */
function rootOf(hashes: Buffer[]): Buffer {
  let level = hashes;
  while (level.length > 1) {
    const above: Buffer[] = [];
    for (let at = 0; at < level.length; at += 2) {
      const [left, right] = [level[at] as Buffer, level[at + 1]];
      if (right !== undefined) {
        left.copy(node, 1);
        right.copy(node, 1 + HASH_BYTES);
      }
      above.push(right === undefined ? left : hash('sha256', node, 'buffer'));
    }
    level = above;
  }
  return level[0] ?? Buffer.from(proof.EMPTY_ROOT);
}
