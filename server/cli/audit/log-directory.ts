import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as proof from '../../../client/proof/index.ts';

const { HASH_BYTES, TILE_WIDTH } = proof;
/** Of an entry in a bundle, after its length. */
export const ENTRY_BYTES = HASH_BYTES + 2;
const TILES_KEPT = 512;

/** The log does not match what its checkpoint signs. */
export class BrokenLogError extends Error {
  override readonly name = 'BrokenLogError';
}

/** The tiles of a mirrored directory. Reads throw a BrokenLogError for a tile that is absent or has another length. */
export class LogDirectory {
  readonly path: string;
  readonly #kept = new Map<number, Buffer>();

  constructor(path: string) {
    this.path = path;
  }

  tile(tile: proof.Tile): Buffer {
    const bytes = this.#read(proof.tilePath, tile, HASH_BYTES);
    if (bytes !== undefined) return bytes;
    throw new BrokenLogError(`${proof.tilePath(tile)} is absent`);
  }

  /** The entries of a bundle, each after its length; undefined if it was not mirrored. */
  entries(tile: proof.Tile): Uint8Array[] | undefined {
    const bytes = this.#read(proof.bundlePath, tile, ENTRY_BYTES);
    try {
      return bytes && proof.entriesOfBundle(bytes, tile.width);
    } catch (error) {
      throw new BrokenLogError(`${proof.bundlePath(tile)}: ${(error as Error).message}`);
    }
  }

  /** The hash of a leaf. Only for tiles that were checked. */
  leaf(index: number, size: number): Buffer {
    const number = Math.floor(index / TILE_WIDTH);
    const tile = this.#kept.get(number) ?? this.#keep(number, size);
    const start = (index % TILE_WIDTH) * HASH_BYTES;
    return tile.subarray(start, start + HASH_BYTES);
  }

  #keep(index: number, size: number): Buffer {
    const [oldest] = this.#kept.keys();
    if (this.#kept.size >= TILES_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    const tile = this.tile({ level: 0, index, width: proof.tileWidth(size, { level: 0, index }) });
    this.#kept.set(index, tile);
    return tile;
  }

  /** A full tile replaces a partial one, which a log may drop. */
  #read(pathOf: (tile: proof.Tile) => string, tile: proof.Tile, itemBytes: number): Buffer | undefined {
    for (const width of new Set([tile.width, TILE_WIDTH])) {
      const name = pathOf({ ...tile, width });
      const path = join(this.path, name);
      if (!existsSync(path)) continue;
      const bytes = readFileSync(path);
      if (bytes.length === width * itemBytes) return bytes.subarray(0, tile.width * itemBytes);
      throw new BrokenLogError(`${name} has ${bytes.length} bytes`);
    }
    return undefined;
  }
}
