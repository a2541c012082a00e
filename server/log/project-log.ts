import { LRUCache } from 'lru-cache';
import {
  type Bundle,
  consistencyProof,
  hashesOfTile,
  inclusionProof,
  type ReadTile,
  type Tile,
  TILE_WIDTH,
  tilePath,
  tileWidth,
  type TreeHead,
  treeRoot,
  type VerifierKey,
  verifierKeyText,
} from '../../client/proof/index.ts';
import { LOG_ROOTS_KNOWN_MAX, LOG_TILES_KNOWN_MAX } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { createLogStore, type LogPiece, type LogReads, type LogStore } from './log-store.ts';
import { type LogSigner, originOf } from './log-signer.ts';
import { HASH_BYTES, leafHashes } from './subtrees.ts';

type Witnessed = { name: string; vkey: string; size: number; checkpoint: string | null };
type Signed = { size: number; checkpoint: string };
export type LogHeads = {
  signer: LogSigner;
  /** By project, the newest checkpoint that was read within the last second. */
  recent: LRUCache<string, Signed>;
  roots: LRUCache<string, Uint8Array>;
  tiles: LRUCache<string, Uint8Array>;
};

const RECENT_MS = 1000;

/** State shared by the logs of all projects: the signer, the newest checkpoints, and recently read roots and tiles, which never change. */
export function createLogHeads(signer: LogSigner): LogHeads {
  return {
    signer,
    recent: new LRUCache({ max: LOG_ROOTS_KNOWN_MAX, ttl: RECENT_MS }),
    roots: new LRUCache({ max: LOG_ROOTS_KNOWN_MAX }),
    tiles: new LRUCache({ max: LOG_TILES_KNOWN_MAX }),
  };
}

/** The log of one project, read with the statements of one request. Every method rejects with a StoreError if the store is unavailable. */
export class ProjectLog {
  readonly #projectId: string;
  readonly #heads: LogHeads;
  readonly #reads: LogReads;
  readonly store: LogStore;
  /** Several proofs of one request share tiles. */
  readonly #tiles = new Map<string, Promise<Uint8Array>>();

  constructor(projectId: string, heads: LogHeads, reads: LogReads) {
    this.#projectId = projectId;
    this.#heads = heads;
    this.#reads = reads;
    this.store = createLogStore(reads);
  }

  size(): Promise<number> {
    return this.store.size(this.#projectId);
  }

  /** The bytes of a tile: hashes of leaves at level 0, of complete subtrees above. */
  readonly tile: ReadTile = (tile) => {
    const path = tilePath(tile);
    const reading = this.#tiles.get(path) ?? this.#readTile(tile);
    this.#tiles.set(path, reading);
    return reading;
  };

  /** Takes the tile with a leaf from a piece that contains all of it, so that it need not be read. */
  know({ from, entries }: LogPiece, { index, size }: { index: number; size: number }): void {
    const place = { level: 0, index: Math.floor(index / TILE_WIDTH) };
    const tile = { ...place, width: tileWidth(size, place) };
    const start = tile.index * TILE_WIDTH - from;
    const bytes = entries.subarray(start * HASH_BYTES, (start + tile.width) * HASH_BYTES);
    if (start >= 0 && bytes.length === tile.width * HASH_BYTES)
      this.#tiles.set(tilePath(tile), Promise.resolve(leafHashes(bytes)));
  }

  async #readTile(tile: Tile): Promise<Uint8Array> {
    const key = `${this.#projectId} ${tilePath(tile)}`;
    const bytes = this.#heads.tiles.get(key) ?? (await this.#readStoredTile(tile));
    this.#heads.tiles.set(key, bytes);
    return bytes;
  }

  async #readStoredTile({ level, index, width }: Tile): Promise<Uint8Array> {
    const from = index * TILE_WIDTH;
    if (level > 0) return this.store.hashes(this.#projectId, level, from, from + width);
    return leafHashes(await this.store.entries(this.#projectId, from, from + width));
  }

  /** The entries of a bundle, 32 bytes each. */
  async entries({ index, width }: Bundle): Promise<Uint8Array[]> {
    const from = index * TILE_WIDTH;
    return hashesOfTile(await this.store.entries(this.#projectId, from, from + width), width);
  }

  async head(size: number): Promise<TreeHead> {
    const key = `${this.#projectId} ${size}`;
    const root = this.#heads.roots.get(key) ?? (await treeRoot(size, this.tile));
    this.#heads.roots.set(key, root);
    return { origin: originOf(this.#projectId), size, root };
  }

  /** The signed checkpoint of a size, with the cosignatures of witnesses below it. */
  async checkpoint(size: number): Promise<string> {
    const [signed, cosignatures] = await Promise.all([this.signed(size), this.#cosignatures(size)]);
    return signed + cosignatures.map((line) => `${line}\n`).join('');
  }

  /** The size of the log and its checkpoint. */
  async newest(): Promise<Signed> {
    const size = await this.size();
    const newest = { size, checkpoint: await this.checkpoint(size) };
    this.#heads.recent.set(this.#projectId, newest);
    return newest;
  }

  /** Like `newest`, but up to a second old: a proof of that time is still valid. */
  async recent(): Promise<Signed> {
    return this.#heads.recent.get(this.#projectId) ?? (await this.newest());
  }

  /** The checkpoint of a size with the signature of the log only. */
  async signed(size: number): Promise<string> {
    const { signer } = this.#heads;
    signer.requireWhole();
    return signer.sign(await this.head(size), this.#projectId);
  }

  inclusion(index: number, size: number): Promise<Uint8Array[]> {
    return inclusionProof({ index, size }, this.tile);
  }

  consistency(fromSize: number, toSize: number): Promise<Uint8Array[]> {
    return consistencyProof({ fromSize, toSize }, this.tile);
  }

  /** The largest checkpoint that a witness signed. A log that is smaller now cannot show it. */
  async witnessed(key: VerifierKey): Promise<Witnessed> {
    const params = { project_id: this.#projectId, ...witnessOf(key) };
    const [[row], current] = await Promise.all([
      this.#reads.query<{ size: string }>(sql('log_cosigned'), params),
      this.size(),
    ]);
    const size = Number(row?.size ?? 0);
    const isShown = size > 0 && size <= current;
    const checkpoint = isShown ? await this.checkpoint(size) : null;
    return { name: key.name, vkey: verifierKeyText(key), size, checkpoint };
  }

  async #cosignatures(size: number): Promise<string[]> {
    const params = { project_id: this.#projectId, size };
    const rows = await this.#reads.query<{ line: string }>(sql('log_cosignatures'), params);
    return rows.map(({ line }) => line);
  }
}

/** The parameters of log_cosigned that name a witness. A witness that replaced its key has signed nothing yet. */
export function witnessOf({ name, keyId }: VerifierKey) {
  return { witness: name, key_id: keyId.toString(16).padStart(8, '0') };
}
