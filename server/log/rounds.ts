import { randomInt } from 'node:crypto';
import { keyOf } from '../commit/identity.ts';
import type { LostRow, Removal } from '../commit/remove-rows.ts';
import { StoreError } from '../store/store-error.ts';
import type { ChunkRow, LogTables, Piece, Rival, Source } from './log-tables.ts';

/** The work of one round. */
export type Work = {
  /** Inserts of this process that succeeded, seen for the first time. */
  fresh: readonly string[];
  /** The projects of the fresh inserts. */
  projects: ReadonlySet<string>;
  /** Inserts that may have records in the log already, or rows still to arrive. If `isFinal` is false, they will be checked again. */
  careful: readonly { flush: string; isFinal: boolean }[];
  /** Rows from before the log. */
  hour?: { hour: string; number: number; isFinal: boolean } | undefined;
};

export const NO_INSERTS = { fresh: [], projects: new Set<string>(), careful: [] };

export type Outcome = {
  /** False if another process took the round: the same work must be done again, carefully. */
  isDone: boolean;
  /** Inserts with rows that lost a conflict and are still there. */
  incomplete: string[];
  /** The projects whose logs grew, with their sizes. */
  grown: Map<string, number>;
};

export type RoundDeps = {
  tables: Omit<LogTables, 'unlisted' | 'newestFlush' | 'hours' | 'hash' | 'hashesOf'>;
  /** Other services write to this store. */
  isShared: boolean;
  /** Removes rows that lost to one that is in the log. */
  remove: (rows: Removal[]) => Promise<void>;
  /** Rows that occurred before this time of the store are expired. */
  expiredBefore: () => string;
};

/** A row that lost, and the one that has its identity. */
type Loss = { row: Rival; winner: Rival };

const PROPOSALS = 2 ** 48 - 1;
/** If rows arrive while a round checks them, it checks again, up to this many times. */
const CHECKS_MAX = 5;
/** Rows that are still there after a removal are removed again at once, up to this many times. */
const REMOVALS_MAX = 5;
/** How long a sole process may rely on what it read of its own last round; a proposal must be younger than 5 minutes. */
const NEWS_VALID_MS = 60_000;
const NO_RECORDS = { received_from: '1970-01-01 00:00:00.000', received_to: '1970-01-01 00:00:00.000' };

/**
 * Appends records to the logs of projects, in rounds. The rounds in the store define the log, and the store keeps one proposal per round.
 * So a process that was frozen at any point finds its round taken, and changes nothing.
 */
export class LogRounds {
  readonly #deps: RoundDeps;
  /** The newest round seen, and the known sizes of logs after it. */
  #round: number | undefined;
  /** The last time read from the store, and when it was read by performance.now(); undefined while a round may be in progress. */
  #newest: { now: string; atMs: number } | undefined;
  readonly #sizes = new Map<string, number>();

  constructor(deps: RoundDeps) {
    this.#deps = deps;
  }

  get round(): number {
    return this.#round ?? 0;
  }

  /** Rejects with a StoreError: the work may or may not be done, and must be done again, carefully. */
  async run(work: Work): Promise<Outcome> {
    const { tables, isShared, expiredBefore } = this.#deps;
    // Before looking for rivals: of two services with one identity, the one that looks last sees the marks of both, and the rounds of the
    // other.
    const now = this.#recentTime() ?? (await this.#readNews()).now;
    this.#newest = undefined;
    const round = this.round + 1;
    const careful = work.careful.map(({ flush }) => flush);
    if (isShared && careful.length > 0) await tables.mark(careful);
    const head = { round, proposal: String(randomInt(PROPOSALS)), proposed_at: now };
    if (!isShared && work.fresh.length > 0 && careful.length === 0) {
      // No row can lose and none is logged yet, so the entries need not leave the engine.
      const starts = await this.#sizesOf(work.projects);
      await tables.append({ flushes: work.fresh, since: expiredBefore() }, { ...head, starts });
      const result = await this.#readBack(head);
      if (result !== undefined) return { incomplete: [], ...result };
      // All records have expired since.
      this.#newest = undefined;
    }
    const { pieces, losses } = await this.#select(work, careful);
    const incomplete = [...new Set(losses.map(({ row }) => row.flush))];
    const rows = await this.#place(pieces);
    const chunks = [...rows, ...listing(work, { incomplete, isFirst: rows.length === 0 })];
    const [first] = chunks;
    if (first !== undefined) {
      first.flushes = complete(work, incomplete);
      await tables.commit({ ...head, rows: chunks });
    }
    const result =
      first === undefined ? { isDone: true, grown: new Map<string, number>() } : await this.#readBack(head);
    if (result === undefined)
      throw new StoreError('store_unavailable', 'The store does not show the round that was written.');
    if (result.isDone && losses.length > 0) await this.#removeLost(work.fresh, careful);
    return { incomplete, ...result };
  }

  /** Whether the round is the proposed one, and how the logs grew with it. Undefined if there is no such round. */
  async #readBack({ round, proposal }: { round: number; proposal: string }) {
    const news = await this.#readNews();
    const rows = news.rows.filter((row) => row.round === round);
    const [holder] = rows;
    if (holder === undefined) return undefined;
    const isDone = holder.proposal === proposal && holder.counts;
    const grown = isDone ? rows.filter(({ project_id }) => project_id !== '') : [];
    return { isDone, grown: new Map(grown.map(({ project_id, size }) => [project_id, size])) };
  }

  /** The store's time at the last read, if no other process can have written since. */
  #recentTime(): string | undefined {
    if (this.#deps.isShared || this.#newest === undefined) return undefined;
    return performance.now() - this.#newest.atMs < NEWS_VALID_MS ? this.#newest.now : undefined;
  }

  async #readNews() {
    const { tables } = this.#deps;
    const atMs = performance.now();
    this.#round ??= await tables.newestRound();
    const news = await tables.newsAfter(this.#round);
    for (const { round, project_id, size, counts } of news.rows) {
      this.#round = Math.max(this.#round, round);
      if (counts && this.#sizes.has(project_id)) this.#sizes.set(project_id, size);
    }
    this.#newest = { now: news.now, atMs };
    return news;
  }

  /** The records that enter, and the rows that do not because another row has their identity. */
  async #select(work: Work, careful: string[]): Promise<{ pieces: Piece[]; losses: Loss[] }> {
    const { tables, isShared, expiredBefore } = this.#deps;
    const { fresh, hour } = work;
    const source: Source = {
      flushes: hour === undefined ? [...fresh, ...careful] : ['0'],
      since: expiredBefore(),
      ...(hour === undefined ? {} : { hour: hour.hour }),
    };
    const mayBeLogged = isShared || careful.length > 0 || hour !== undefined;
    const logged = mayBeLogged ? ((await tables.extentOf(source)) ?? NO_RECORDS) : undefined;
    let losses = hour === undefined ? await this.#findLosses(fresh, careful) : [];
    for (let checks = 1; ; checks += 1) {
      const pieces = await tables.pieces(source, { lost: losses.map(({ row }) => row), logged });
      // Other inserts are complete. Rows of these may have arrived since the check.
      const more = careful.length > 0 ? await this.#findLosses(fresh, careful) : [];
      const known = new Set(losses.map(({ row }) => nameOf(row)));
      if (more.every(({ row }) => known.has(nameOf(row)))) return { pieces, losses };
      if (checks === CHECKS_MAX)
        throw new StoreError('store_unavailable', 'Rows keep coming while the log looks at them.');
      losses = [...losses, ...more.filter(({ row }) => !known.has(nameOf(row)))];
    }
  }

  /** If several rows have one identity, the logged one wins, else the one received first. All others lose. */
  async #findLosses(fresh: readonly string[], careful: readonly string[]): Promise<Loss[]> {
    const { tables, isShared, expiredBefore } = this.#deps;
    const since = expiredBefore();
    const rivals = [
      ...(isShared && fresh.length > 0 ? await tables.rivals(fresh, { isCareful: false, since }) : []),
      ...(careful.length > 0 ? await tables.rivals(careful, { isCareful: true, since }) : []),
    ];
    if (rivals.length === 0) return [];
    const rows = [...new Map(rivals.map((row) => [nameOf(row), row])).values()];
    const logged = await tables.logged(rows);
    return [...Map.groupBy(rows, keyOf).values()].flatMap((group) => {
      const winner =
        group.find(({ entry }) => logged.has(entry)) ??
        group.reduce((first, row) => (BigInt(row.version) > BigInt(first.version) ? row : first));
      return group.filter((row) => row !== winner && !logged.has(row.entry)).map((row) => ({ row, winner }));
    });
  }

  async #place(pieces: Piece[]): Promise<ChunkRow[]> {
    const ends = await this.#sizesOf(pieces.map(({ project_id }) => project_id));
    return pieces.map(({ count, ...piece }) => {
      const start = ends.get(piece.project_id) ?? 0;
      ends.set(piece.project_id, start + count);
      return { ...piece, start, flushes: [] };
    });
  }

  async #sizesOf(projectIds: Iterable<string>): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (const projectId of projectIds) sizes.set(projectId, await this.#sizeOf(projectId));
    return sizes;
  }

  async #sizeOf(projectId: string): Promise<number> {
    const known = this.#sizes.get(projectId);
    if (known !== undefined) return known;
    const size = await this.#deps.tables.sizeAt(projectId, this.round);
    this.#sizes.set(projectId, size);
    return size;
  }

  /** Checks again, because the store may lose a removal. */
  async #removeLost(fresh: readonly string[], careful: readonly string[]): Promise<void> {
    for (let removals = 0; removals < REMOVALS_MAX; removals += 1) {
      const losses = await this.#findLosses(fresh, careful);
      const logged = await this.#deps.tables.logged(losses.map(({ winner }) => winner));
      const lost = losses.filter(({ winner }) => logged.has(winner.entry));
      if (lost.length === 0) return;
      await this.#deps.remove(lost.map(({ row, winner }) => ({ ...row, winnerDay: winner.day })));
    }
  }
}

function nameOf(row: LostRow): string {
  return `${keyOf(row)} ${row.version}`;
}

/** The inserts that are complete in the log with this round. */
function complete({ fresh, careful }: Work, incomplete: readonly string[]): string[] {
  const out = new Set(incomplete);
  const last = careful.filter(({ isFinal }) => isFinal).map(({ flush }) => flush);
  return [...fresh, ...last].filter((flush) => !out.has(flush));
}

/** Rows that only list inserts. */
function listing(
  work: Work,
  { incomplete, isFirst }: { incomplete: string[]; isFirst: boolean },
): ChunkRow[] {
  const row = { project_id: '', start: 0, entries: '', ...NO_RECORDS, flushes: [] };
  const { hour } = work;
  if (hour?.isFinal === true) return [{ ...row, start: hour.number }];
  return isFirst && complete(work, incomplete).length > 0 ? [row] : [];
}
