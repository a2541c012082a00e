import { join } from 'node:path';
import { type ExportedPiece, LogForkError, LogImport } from '../log/log-import.ts';
import { createLogger } from '../logger.ts';
import { sql } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import { CommandError } from './command-error.ts';
import { linesOf, LOG_TABLE, type Manifest, type Part } from './transfer.ts';

/** Entries per round: about 6.5 MB of digits. */
const ROUND_ENTRIES = 100_000;

type Exported = { directory: string; manifest: Manifest };
type Key = { accepted_at: string; public_key: string };

/** Imports the logs of an export into a store. */
export class LogTransfer {
  readonly #directory: string;
  readonly #import: LogImport;

  private constructor(store: Store, directory: string) {
    this.#directory = directory;
    this.#import = new LogImport(store.log, createLogger('silent'));
  }

  /** Rejects with a CommandError, before anything is written, when the import would fork a log of the store. */
  static async open(store: Store, { directory, manifest }: Exported): Promise<LogTransfer> {
    await requireSameKey(store, { directory, manifest });
    const transfer = new LogTransfer(store, directory);
    for (const { table, name } of manifest.files)
      if (table === LOG_TABLE) await transfer.#each(name, (pieces) => transfer.#import.check(pieces));
    return transfer;
  }

  /** Resolves with the number of new entries. */
  async append({ name }: Part): Promise<number> {
    let entries = 0;
    await this.#each(name, async (pieces) => void (entries += await this.#import.append(pieces)));
    return entries;
  }

  finish(): Promise<void> {
    return this.#import.finish();
  }

  async #each(name: string, take: (pieces: ExportedPiece[]) => Promise<void>): Promise<void> {
    try {
      for await (const pieces of piecesOf(join(this.#directory, name))) await take(pieces);
    } catch (error) {
      if (error instanceof LogForkError) throw new CommandError(error.message);
      throw error;
    }
  }
}

async function* piecesOf(path: string): AsyncGenerator<ExportedPiece[]> {
  let pieces: ExportedPiece[] = [];
  let digits = 0;
  for await (const line of linesOf(path)) {
    const [project_id, start, entries, received_from, received_to] = JSON.parse(line) as string[];
    if (entries === undefined || project_id === undefined) continue;
    pieces.push({
      project_id,
      start: Number(start),
      entries,
      received_from: received_from ?? '',
      received_to: received_to ?? '',
    });
    digits += entries.length;
    if (digits < ROUND_ENTRIES * 64) continue;
    yield pieces;
    pieces = [];
    digits = 0;
  }
  if (pieces.length > 0) yield pieces;
}

/** A log has one key. If the operator replaced it, both stores know the new one, or the most recently used store does. */
async function requireSameKey(store: Store, { directory, manifest }: Exported): Promise<void> {
  const file = manifest.files.find(({ table }) => table === 'log_keys');
  if (file === undefined) return;
  const columns = manifest.tables['log_keys'] ?? [];
  const exported: Key[] = [];
  for await (const line of linesOf(join(directory, file.name))) {
    const row = JSON.parse(line) as string[];
    const values = (['accepted_at', 'public_key'] as const).map((name) => [name, row[columns.indexOf(name)]]);
    exported.push(Object.fromEntries(values) as Key);
  }
  const stored = await store.log.query<Key>(sql('log_keys'));
  const [theirs, ours] = [newestOf(exported), newestOf(stored)];
  if (theirs === undefined || ours === undefined) return;
  const has = (keys: Key[], key: string) => keys.some(({ public_key }) => public_key === key);
  if (has(exported, ours) || has(stored, theirs)) return;
  throw new CommandError(
    `The logs of this store are signed with the key ${ours}, the exported ones with ${theirs}. ` +
      'Import into a new database, and start services on it with the log key of the exported store.',
  );
}

function newestOf(keys: Key[]): string | undefined {
  const orderOf = ({ accepted_at, public_key }: Key) => `${accepted_at} ${public_key}`;
  return keys.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1)).at(-1)?.public_key;
}
