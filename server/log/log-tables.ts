import { append } from '../store/bounded-store.ts';
import type { Connection } from '../store/connection.ts';
import { chunksOf, idsOf } from '../commit/identity.ts';
import type { LostRow } from '../commit/remove-rows.ts';
import { sql } from '../store/sql.ts';

/** The input of a round: inserts by their numbers, or one hour of rows from before the log. */
export type Source = {
  flushes: readonly string[];
  /** The start of the hour as the store prints it. */
  hour?: string;
  /** Rows that occurred earlier have expired. */
  since: string;
};

/** Records of one project in the order in which they enter, as hex digits separated by spaces. */
export type Piece = {
  project_id: string;
  entries: string;
  count: number;
  received_from: string;
  received_to: string;
};

/** A row of a round. `size`: of the log of its project including this row. */
export type NewsRow = { round: number; proposal: string; project_id: string; size: number; counts: boolean };
type News = { now: string; rows: NewsRow[] };
/** One of several rows of an identity. */
export type Rival = LostRow & { flush: string; received_at: string; entry: string };
/** When records were received. */
type Extent = { received_from: string; received_to: string };
export type ChunkRow = {
  project_id: string;
  start: number;
  entries: string;
  received_from: string;
  received_to: string;
  flushes: readonly string[];
};
type Head = { round: number; proposal: string; proposed_at: string };
export type Proposal = Head & { rows: ChunkRow[] };
/** `starts`: the sizes of the logs that may grow. */
export type Append = Head & { starts: ReadonlyMap<string, number> };

type NewsAnswer = { now: string; rows: [string, string, string, string, number | boolean][] };
type RivalRow = Omit<Rival, 'version' | 'flush' | 'entry'> &
  Record<'row_version' | 'number' | 'digits', string>;
type Unlisted = { from: bigint; to: bigint; head: number };
type Contested = { project_id: string; event_id: string; times: string[] };

/** How many rounds back inserts are still searched for: the rounds of several services in an hour. */
const ROUNDS_BACK = 20_000;

/** The sequencer's statements. Every method rejects with a StoreError if the store is unavailable. */
export class LogTables {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async newestRound(): Promise<number> {
    return Number(await this.#one('log_head', {}, 'newest'));
  }

  async newsAfter(round: number): Promise<News> {
    const [answer] = await this.#connection.query<NewsAnswer>(sql('log_news'), { round });
    const { now, rows } = answer as NewsAnswer;
    const read = ([number, proposal, project_id, size, counts]: NewsAnswer['rows'][number]) => ({
      round: Number(number),
      proposal,
      project_id,
      size: Number(size),
      counts: Boolean(counts),
    });
    return { now, rows: rows.map(read) };
  }

  async sizeAt(project_id: string, round: number): Promise<number> {
    return Number(await this.#one('log_size', { project_id, round }, 'size'));
  }

  /** undefined if there are no such records. */
  async extentOf(source: Source): Promise<Extent | undefined> {
    const [row] = await this.#connection.query<Extent & { count: string }>(
      sql('log_extent'),
      ofSource(source),
    );
    return row === undefined || row.count === '0' ? undefined : row;
  }

  /** The records of these inserts, except rows that lost a conflict, and rows received within `logged` that the log has. */
  pieces(source: Source, { lost, logged }: { lost: readonly LostRow[]; logged: Extent | undefined }) {
    return this.#connection.query<Piece>(sql('log_pieces'), {
      ...ofSource(source),
      out_project_ids: lost.map(({ project_id }) => project_id),
      out_event_ids: lost.map(({ event_id }) => event_id),
      out_versions: lost.map(({ version }) => version),
      overlap_from: logged?.received_from ?? null,
      overlap_to: logged?.received_to ?? null,
    });
  }

  /** Like `commit` of the pieces of these inserts, which do not leave the engine. Only for a process that has the store to itself. */
  append({ flushes, since }: Source, { starts, ...head }: Append): Promise<void> {
    const [projects, sizes] = [[...starts.keys()], [...starts.values()].map(String)];
    return this.#connection.command(sql('log_append'), { flushes, since, ...head, projects, sizes });
  }

  mark(flushes: readonly string[]): Promise<void> {
    return this.#connection.command(sql('log_mark'), { flushes });
  }

  /**
   * The rows of those identities of these inserts that have more than one row. Finds rows of other writers by their marks, and without a
   * mark those that a merge would collapse; all others only if `isCareful`. Rows that occurred before `since` have expired and are no
   * rivals.
   */
  async rivals(
    flushes: readonly string[],
    { isCareful, since }: { isCareful: boolean; since: string },
  ): Promise<Rival[]> {
    const params = { flushes, by_writer: isCareful ? 0 : 1 };
    const marked = await this.#connection.query<Contested>(sql('log_contested'), params);
    const beside = sql(isCareful ? 'log_doubled' : 'log_collapsible');
    const contested = [...marked, ...(await this.#connection.query<Contested>(beside, { flushes }))];
    const rivals: Rival[] = [];
    for (const chunk of chunksOf(contested)) {
      const times = [...new Set(chunk.flatMap((row) => row.times))].filter((time) => time >= since);
      const rows = await this.#connection.query<RivalRow>(sql('log_rivals'), { ...idsOf(chunk), times });
      for (const { row_version, number, digits, ...row } of rows)
        rivals.push({ ...row, version: row_version, flush: number, entry: digits });
    }
    return rivals;
  }

  /** The given entries that are in a log. */
  async logged(rivals: readonly Rival[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const chunk of chunksOf([...rivals], 500)) {
      const received = chunk.map(({ received_at }) => received_at).sort();
      const rows = await this.#connection.query<{ digits: string }>(sql('log_present'), {
        entries: chunk.map(({ entry }) => entry),
        received_from: received[0] ?? '',
        received_to: received.at(-1) ?? '',
      });
      for (const { digits } of rows) found.add(digits);
    }
    return found;
  }

  /** Of several proposals for one round, the store keeps the first and silently discards the others. */
  commit({ round, proposal, proposed_at, rows }: Proposal): Promise<void> {
    const values = rows.map(({ project_id, start, entries, received_from, received_to, flushes }) => {
      const piece = { project_id, start, entries_hex: entries, received_from, received_to, flushes };
      return { round, proposal, proposed_at, ...piece };
    });
    return append(this.#connection, { table: 'log_chunks', values, token: `log round ${round}` });
  }

  /** Numbers of inserts in this range that no round after `sinceRound` made complete. */
  async unlisted({ from, to, head }: Unlisted): Promise<{ flush: bigint; rows: number }[]> {
    const params = { flush_from: `${from}`, flush_to: `${to}`, round: Math.max(0, head - ROUNDS_BACK) };
    const rows = await this.#connection.query<{ number: string; rows: string }>(sql('log_unlisted'), params);
    return rows.map((row) => ({ flush: BigInt(row.number), rows: Number(row.rows) }));
  }

  /** The newest insert that is complete in the log, and when, by the store's clock, a round with inserts was last proposed. */
  async newestFlush(head: number): Promise<{ flush: bigint; atMs: number }> {
    const params = { round: Math.max(0, head - ROUNDS_BACK) };
    const [row] = await this.#connection.query<{ flush: string; at_ms: string }>(
      sql('log_newest_flush'),
      params,
    );
    return { flush: BigInt(row?.flush ?? 0), atMs: Number(row?.at_ms ?? 0) };
  }

  hours(since: string): Promise<{ hour: string; number: string; is_still: number | boolean }[]> {
    return this.#connection.query(sql('log_hours'), { since });
  }

  /** Hashes complete subtrees of a level. from, to: their positions in the level. */
  hash(project_id: string, { level, from, to }: { level: number; from: number; to: number }): Promise<void> {
    const below = level === 1 ? { leaves: 1, below: null } : { leaves: null, below: level - 1 };
    return this.#connection.command(sql('log_hash'), { project_id, level, from, to, ...below });
  }

  /** How many hashes of a level are stored. A level has no gaps. */
  async hashesOf(project_id: string, level: number): Promise<number> {
    return Number(await this.#one('log_hashes_end', { project_id, level }, 'next'));
  }

  async #one(name: string, params: Record<string, string | number | null>, key: string) {
    const [row] = await this.#connection.query<Record<string, string>>(sql(name), params);
    return row?.[key] ?? 0;
  }
}

function ofSource({ flushes, hour, since }: Source) {
  return { flushes, hour: hour ?? null, since };
}
