import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { StoreError } from '../store/store-error.ts';
import { clickhouseTime } from '../store/time.ts';
import { HASH_BYTES, leafHashes, rootsOf256, SUBTREE } from './subtrees.ts';

/** Entries of a log from the index `from` on, 32 bytes each. */
export type LogPiece = { from: number; entries: Buffer };

/** Reads the logs of projects. Indexes count entries from 0. Every method rejects with a StoreError if the store is unavailable. */
export type LogStore = {
  /** The number of entries; 0 for a project without any. */
  size(projectId: string): Promise<number>;
  /** The entries from index `from` to before `to`, 32 bytes each. Rejects with a RangeError beyond the size. */
  entries(projectId: string, from: number, to: number): Promise<Buffer>;
  /**
   * Roots of the complete subtrees of 256^level leaves, from the `from`th to before the `to`th, 32 bytes each, as RFC 6962
   * hashes them. Rejects with a RangeError where a subtree is not complete. level >= 1.
   */
  hashes(projectId: string, level: number, from: number, to: number): Promise<Buffer>;
  /** A few pieces with records that were received between two times of the store. */
  piecesAt(projectId: string, received: { from: string; to: string }): Promise<LogPiece[]>;
  /** The index of an entry, undefined until it is in the log. receivedAt: of its record, RFC 3339. */
  indexOf(projectId: string, record: { entry: Uint8Array; receivedAt: string }): Promise<number | undefined>;
};

const PLACE_BYTES = 8;

/** The hashes in `rows`, each preceded by its position, up to the first gap. */
function firstHashes(rows: Buffer, from: number): Buffer {
  const width = PLACE_BYTES + HASH_BYTES;
  const hashes: Buffer[] = [];
  for (let at = 0; at < rows.length; at += width) {
    if (rows.readBigUInt64LE(at) !== BigInt(from + hashes.length)) break;
    hashes.push(rows.subarray(at + PLACE_BYTES, at + width));
  }
  return Buffer.concat(hashes);
}

/** Parses pieces: each is its start, its number of entries, and the entries. */
function piecesFrom(bytes: Buffer): LogPiece[] {
  const pieces: LogPiece[] = [];
  for (let at = 0; at < bytes.length;) {
    const from = Number(bytes.readBigUInt64LE(at));
    const begin = at + 2 * PLACE_BYTES;
    at = begin + Number(bytes.readBigUInt64LE(at + PLACE_BYTES)) * HASH_BYTES;
    pieces.push({ from, entries: bytes.subarray(begin, at) });
  }
  return pieces;
}

export type LogReads = Pick<Connection, 'query' | 'queryBytes'>;

/** `reads` may belong to one request, so that its statements end with it. */
export function createLogStore(reads: LogReads): LogStore {
  const logStore: LogStore = {
    async size(project_id) {
      const [row] = await reads.query<{ size: string }>(sql('log_size'), { project_id, round: null });
      return Number(row?.size ?? 0);
    },
    async entries(project_id, from, to) {
      if (to <= from) return Buffer.alloc(0);
      const bytes = await reads.queryBytes(sql('log_entries'), { project_id, from, to });
      if (bytes.length === (to - from) * HASH_BYTES) return bytes;
      if (to > (await logStore.size(project_id))) throw new RangeError('The log has no such entries.');
      throw new StoreError(
        'store_unavailable',
        `The log of ${project_id} lacks entries from ${from} to ${to}.`,
      );
    },
    async hashes(project_id, level, from, to) {
      if (to <= from) return Buffer.alloc(0);
      const rows = await reads.queryBytes(sql('log_hashes'), { project_id, level, from, to });
      const stored = firstHashes(rows, from);
      const missing = from + stored.length / HASH_BYTES;
      if (missing === to) return stored;
      const [first, last] = [missing * SUBTREE, to * SUBTREE];
      const below =
        level === 1
          ? leafHashes(await logStore.entries(project_id, first, last))
          : await logStore.hashes(project_id, level - 1, first, last);
      return Buffer.concat([stored, rootsOf256(below)]);
    },
    async piecesAt(project_id, { from: received_from, to: received_to }) {
      const params = { project_id, received_from, received_to };
      return piecesFrom(await reads.queryBytes(sql('log_pieces_at'), params));
    },
    async indexOf(project_id, { entry, receivedAt }) {
      const params = {
        project_id,
        entry: Buffer.from(entry).toString('hex'),
        received_at: clickhouseTime(Date.parse(receivedAt)),
      };
      const [row] = await reads.query<{ index: string }>(sql('log_index'), params);
      return row && Number(row.index);
    },
  };
  return logStore;
}
