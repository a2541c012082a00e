import type { Logger } from 'pino';
import type { Connection } from '../store/connection.ts';
import { createLogStore, type LogStore } from './log-store.ts';
import { LogTables, type Piece } from './log-tables.ts';
import { LogRounds, NO_INSERTS } from './rounds.ts';
import { SubtreeHashes } from './subtree-hashes.ts';
import { HASH_BYTES } from './subtrees.ts';

/** Consecutive entries of an exported log, from the index `start` on; as hex digits separated by spaces. */
export type ExportedPiece = Omit<Piece, 'count'> & { start: number };

/** The log of the store begins differently from that of the export, or the export lacks entries. */
export class LogForkError extends Error {}

const DIGITS = 2 * HASH_BYTES + 1;

/** The rounds of an import take their pieces from the export instead of from the records. */
class ImportTables extends LogTables {
  readonly #take: () => Promise<Piece[]>;

  constructor(connection: Connection, take: () => Promise<Piece[]>) {
    super(connection);
    this.#take = take;
  }

  override pieces(): Promise<Piece[]> {
    return this.#take();
  }
}

/**
 * Extends the logs of a store with those of an export, in rounds like the sequencer's. So a service on the store cannot fork them, and an
 * interrupted import continues where it ended.
 */
export class LogImport {
  readonly #log: LogStore;
  readonly #tables: ImportTables;
  readonly #rounds: LogRounds;
  readonly #hashes: SubtreeHashes;
  readonly #projects = new Set<string>();
  #take: () => Promise<Piece[]> = () => Promise.resolve([]);

  constructor(connection: Connection, logger: Logger) {
    this.#log = createLogStore(connection);
    this.#tables = new ImportTables(connection, () => this.#take());
    this.#rounds = new LogRounds({
      tables: this.#tables,
      isShared: false,
      remove: () => Promise.resolve(),
      expiredBefore: () => '',
    });
    this.#hashes = new SubtreeHashes(this.#tables, logger);
  }

  /** Rejects with a LogForkError when these pieces contradict the log that the store has. */
  async check(pieces: readonly ExportedPiece[]): Promise<void> {
    for (const [projectId, ofProject] of Map.groupBy(pieces, ({ project_id }) => project_id))
      await this.#compare(ofProject, await this.#log.size(projectId));
  }

  /**
   * Appends the entries that the store does not have. The pieces follow those of the previous call. Resolves with the number of new
   * entries.
   */
  async append(pieces: readonly ExportedPiece[]): Promise<number> {
    let left: Piece[] = [];
    this.#take = async () => (left = await this.#leftOf(pieces));
    for (let isDone = false; !isDone;) ({ isDone } = await this.#rounds.run(NO_INSERTS));
    for (const { project_id } of pieces) this.#projects.add(project_id);
    return left.reduce((sum, { count }) => sum + count, 0);
  }

  /** Stores the hashes of subtrees, which follow from the entries. */
  async finish(): Promise<void> {
    const sizes = new Map<string, number>();
    for (const projectId of this.#projects) sizes.set(projectId, await this.#log.size(projectId));
    this.#hashes.grew(sizes);
    await this.#hashes.store();
  }

  /** The entries that the logs do not have yet. Read after the head of the rounds: if a log grows in the meantime, the round is lost. */
  async #leftOf(pieces: readonly ExportedPiece[]): Promise<Piece[]> {
    const left: Piece[] = [];
    for (const [projectId, ofProject] of Map.groupBy(pieces, ({ project_id }) => project_id)) {
      const size = await this.#log.size(projectId);
      await this.#compare(ofProject, size);
      let next = size;
      for (const { start, entries, ...piece } of ofProject) {
        if (start > next)
          throw new LogForkError(`The export lacks the entry ${next} of the log of project ${projectId}.`);
        next = Math.max(next, start + countOf(entries));
        const rest = entries.slice(Math.max(0, size - start) * DIGITS);
        if (rest !== '') left.push({ ...piece, entries: rest, count: countOf(rest) });
      }
    }
    return left;
  }

  /** Pieces of one project against the `size` entries that its log has. */
  async #compare(pieces: readonly ExportedPiece[], size: number): Promise<void> {
    const [first] = pieces;
    if (first === undefined || first.start >= size) return;
    const exported = Buffer.from(pieces.map(({ entries }) => entries.replaceAll(' ', '')).join(''), 'hex');
    const to = Math.min(size, first.start + exported.length / HASH_BYTES);
    const stored = await this.#log.entries(first.project_id, first.start, to);
    if (stored.equals(exported.subarray(0, stored.length))) return;
    let at = 0;
    while (stored[at] === exported[at]) at += 1;
    const index = first.start + Math.floor(at / HASH_BYTES);
    throw new LogForkError(
      `The log of project ${first.project_id} in this store differs from the exported one from index ${index} on: ` +
        'both have grown since they were the same, and one log cannot have two histories.',
    );
  }
}

function countOf(entries: string): number {
  return (entries.length + 1) / DIGITS;
}
