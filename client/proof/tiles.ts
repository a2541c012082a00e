import { concat, numberFromDecimal } from './bytes.ts';
import { HASH_BYTES } from './merkle-tree.ts';
import { ProofError } from './proof-error.ts';

/** The hashes of a full tile, and the entries of a full bundle (C2SP tlog-tiles). */
export const TILE_WIDTH = 256;

/** A tile of a tree. At level 0 it holds hashes of leaves, above it hashes of full tiles of the level below. */
export type Tile = { level: number; index: number; width: number };
/** A bundle of entries of a log. */
export type Bundle = Omit<Tile, 'level'>;

const LEVEL_MAX = 63;
const LENGTH_BYTES = 2;

/** The path of a tile below the URL of a log: `tile/0/x001/x234/067.p/12`. */
export function tilePath({ level, ...tile }: Tile): string {
  return `tile/${level}/${placeOf(tile)}`;
}

/** The path of a bundle of entries below the URL of a log: `tile/entries/x001/x234/067`. */
export function bundlePath(bundle: Bundle): string {
  return `tile/entries/${placeOf(bundle)}`;
}

function placeOf({ index, width }: Bundle): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

/** The tile or bundle of a path as `tilePath` and `bundlePath` write it; undefined for any other text. */
export function parseTilePath(path: string): Tile | (Bundle & { level: 'entries' }) | undefined {
  const [, kind = '', place = '', partial] =
    /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path) ?? [];
  const level = kind === 'entries' ? kind : numberFromDecimal(kind);
  const index = Number(place.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? TILE_WIDTH : numberFromDecimal(partial);
  if (level === undefined || width === undefined || !Number.isSafeInteger(index)) return undefined;
  if (level !== 'entries' && level > LEVEL_MAX) return undefined;
  const parsed = { index, width };
  const isOnlySpelling = (level === 'entries' ? bundlePath(parsed) : tilePath({ level, ...parsed })) === path;
  return isOnlySpelling && width >= 1 && width <= TILE_WIDTH ? { level, ...parsed } : undefined;
}

/** How many hashes a tile has in a tree of this size; 0 when the tree has no such tile. */
export function tileWidth(size: number, { level, index }: Omit<Tile, 'width'>): number {
  const hashes = Math.floor(size / TILE_WIDTH ** level);
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/** All tiles of a tree of this size, from the leaves up. Its bundles of entries are like the tiles of level 0. */
export function* tilesOfTree(size: number): Generator<Tile> {
  for (let level = 0; size >= TILE_WIDTH ** level && level <= LEVEL_MAX; level += 1) {
    for (let index = 0; ; index += 1) {
      const width = tileWidth(size, { level, index });
      if (width === 0) break;
      yield { level, index, width };
    }
  }
}

/** Splits the bytes of a tile. Throws when they are not this many hashes. */
export function hashesOfTile(bytes: Uint8Array, width: number): Uint8Array[] {
  if (bytes.length !== width * HASH_BYTES)
    throw new ProofError(`A tile of ${width} hashes has ${bytes.length} bytes`);
  return Array.from({ length: width }, (_, at) => bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES));
}

/** The bytes of a bundle: each entry after its length, two bytes in big-endian order. */
export function bundleFrom(entries: readonly Uint8Array[]): Uint8Array {
  return concat(
    ...entries.flatMap((entry) => [Uint8Array.of(entry.length >> 8, entry.length & 0xff), entry]),
  );
}

/** The entries of a bundle. Throws when it does not hold exactly this many. */
export function entriesOfBundle(bundle: Uint8Array, width: number): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bundle.length;) {
    const start = at + LENGTH_BYTES;
    const end = start + (bundle[at] ?? 0) * 256 + (bundle[at + 1] ?? 0);
    if (end > bundle.length) throw new ProofError('A bundle of entries ends within an entry');
    entries.push(bundle.subarray(start, end));
    at = end;
  }
  if (entries.length !== width)
    throw new ProofError(`A bundle of ${width} entries has ${entries.length} of them`);
  return entries;
}
