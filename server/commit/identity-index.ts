import { randomInt } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { RETENTION_MS } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { fillIdentities } from './fill-identities.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Pair, type Stream } from './identity.ts';
import type { IdentityConflicts } from './identity-conflicts.ts';
import { IdentityFilter } from './identity-filter.ts';
import { RecentIdentities } from './recent-identities.ts';
import type { TakenFilter } from './saved-filters.ts';

/** Identities of durable rows are copied to event_identities in groups, after this delay. */
const COPY_AFTER_MS = 1000;
/** A shorter delay if other services look for them. */
const COPY_AFTER_MS_SHARED = 250;
/** If more identities than this wait to be copied, writes wait for the copy. */
const UNCOPIED_MAX = 500_000;
/** A copy of tens of thousands yields to the event loop in between. */
const LINES_PER_TURN = 2000;
/** An insert enters the log a second after it landed. Rows that a lookup missed must be visible by then. */
const LOOK_UP_AGAIN_AFTER_MS = 500;
const WRITER_MAX = 2 ** 48 - 1;
const COLUMNS = ['stream', 'project_id', 'event_id', 'occurred_at', 'received_at', 'writer'] as const;

type IdentityIndexOptions = {
  /** For look-ups, which callers wait for. */
  connection: Connection;
  /** For everything else. By default the same connection. */
  background?: Connection;
  stream: Stream;
  /** Set if other processes write to this store. Without it, an identity that the filter does not hold is new. */
  conflicts?: IdentityConflicts | undefined;
  /** The filter that the last process left, if it can be used. */
  takeFilter?: (() => Promise<TakenFilter | undefined>) | undefined;
  /** Identities of any age may be missing in event_identities, so all are compared with the event table. */
  hasLostIdentities?: boolean;
  /** How many granules of identities are read at a time while the filter is filled. */
  pageGranules?: number;
  logger: Logger;
  now: () => number;
};

/**
 * Knows exactly which identities are taken, for as long as their records live. Three layers, each used only if the one before cannot
 * decide: a map of the latest identities, a filter that recognizes new ones, and the table event_identities.
 */
export class IdentityIndex {
  readonly #options: IdentityIndexOptions;
  readonly #background: Connection;
  #filter: IdentityFilter | undefined;
  readonly #writer: number;
  readonly #copyAfterMs: number;
  readonly #closing = new AbortController();
  #uncopied = new RecentIdentities();
  #copying: { identities: RecentIdentities; done: Promise<void> } | undefined;
  #opening: Promise<void> | undefined;
  #filling: Promise<void> | undefined;
  #taken: Promise<TakenFilter | undefined> | undefined;
  /** Identities written while the filter of the last process is read. */
  #unfiltered: Pair[] | undefined;
  #hasDoubts = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdentityIndexOptions) {
    this.#options = options;
    this.#background = options.background ?? options.connection;
    const isShared = options.conflicts !== undefined;
    this.#filter = isShared ? undefined : new IdentityFilter();
    this.#writer = isShared ? randomInt(1, WRITER_MAX) : 0;
    this.#copyAfterMs = isShared ? COPY_AFTER_MS_SHARED : COPY_AFTER_MS;
  }

  /** Adds identities that a crash kept out of event_identities. Must succeed once before anything is written. */
  open(): Promise<void> {
    this.#opening ??= this.#recover().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Remembers identities whose rows are durable. */
  add(identities: Identity[]): void {
    for (const identity of identities) {
      this.#uncopied.add(identity);
      if (this.#unfiltered === undefined) this.#filter?.add(identity);
      else this.#unfiltered.push(identity);
    }
    this.#timer ??= setTimeout(() => void this.#copyInBackground(), this.#copyAfterMs);
  }

  /** The filter, which may not be complete yet; undefined when others write to the store, too. */
  get filter(): IdentityFilter | undefined {
    return this.#filter;
  }

  /** The filter, if all written identities are in it and in event_identities; else undefined. */
  get filterToSave(): IdentityFilter | undefined {
    return this.#isClosed && !this.#hasDoubts && this.#filter?.isComplete === true ? this.#filter : undefined;
  }

  /** An insert failed, so the event table may hold rows that were never reported. The next start must look for them. */
  doubt(): void {
    this.#hasDoubts = true;
  }

  /**
   * Runs `work`, which writes events of a project and their identities to the store directly. Until the filter has read them, identities of
   * the project are looked up.
   */
  async aside<T>(projectId: string, work: () => Promise<T>): Promise<T> {
    await this.open();
    await this.#filling;
    this.#filter?.forget(projectId);
    try {
      return await work();
    } finally {
      await this.#filter?.readAgain(projectId, this.#fillOptions()).catch((error: unknown) => {
        this.#warnOfIncomplete(error);
      });
    }
  }

  /** Their rows may have been written, or may still be written. */
  markUncertain(identities: Identity[]): void {
    this.#options.conflicts?.resolveUncertain(identities, (written) => this.add(written));
  }

  /** Those of the given identities that belong to a living record. Rejects if the store cannot answer. */
  async findKnown(identities: Identity[]): Promise<Set<Identity>> {
    if (this.#uncopied.size > UNCOPIED_MAX) await this.copied();
    const known = new Set<Identity>();
    const unsure: Identity[] = [];
    const aliveSinceMs = this.#aliveSinceMs();
    const copying = this.#copying?.identities;
    for (const identity of identities) {
      // The filter is asked first: it also holds the latest ones, and most identities are new.
      if (this.#filter?.mayHave(identity) === false) continue;
      const occurredAtMs = this.#uncopied.occurredAtMs(identity) ?? copying?.occurredAtMs(identity);
      if (occurredAtMs !== undefined && occurredAtMs >= aliveSinceMs) known.add(identity);
      else unsure.push(identity);
    }
    if (unsure.length === 0) return known;
    const askedMs = performance.now();
    let keys = await this.#lookUp(unsure);
    const isStale = this.#filter === undefined && performance.now() - askedMs > LOOK_UP_AGAIN_AFTER_MS;
    // This process may have been frozen since, and another service may have written and logged these events.
    if (isStale) keys = await this.#lookUp(unsure);
    for (const identity of unsure) if (keys.has(keyOf(identity))) known.add(identity);
    return known;
  }

  /** Copies the remaining identities. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    if (this.#opening === undefined) return;
    await this.#opening.catch(() => undefined);
    await this.copied();
    await this.#options.conflicts?.close();
    this.#isClosed = true;
  }

  async #lookUp(identities: Identity[]): Promise<Set<string>> {
    const { connection, stream } = this.#options;
    const alive_since = clickhouseTime(this.#aliveSinceMs());
    const chunks = Array.from(chunksOf(identities), (chunk) =>
      connection.query<Pair>(sql('identities_known'), { stream, ...idsOf(chunk), alive_since }),
    );
    return new Set((await Promise.all(chunks)).flat().map(keyOf));
  }

  #aliveSinceMs(): number {
    return this.#options.now() - RETENTION_MS;
  }

  async #recover(): Promise<void> {
    const { stream, conflicts, takeFilter, hasLostIdentities = false, now } = this.#options;
    const taken = await (this.#taken ??= takeFilter?.());
    // If it lacks nothing, neither does event_identities: the stop that saved it had copied everything.
    const fill = (copiedMs?: number) => fillIdentities(this.#background, { stream, copiedMs, nowMs: now() });
    if (hasLostIdentities) await fill(0);
    else if (taken === undefined || taken.lacks !== undefined) await fill(taken?.lacks?.afterMs);
    conflicts?.resolveRecent(fill);
    if (this.#filter !== undefined) this.#filling = this.#fill(this.#filter, taken);
  }

  /** Writes need not wait for it: what the filter does not hold yet is looked up. */
  async #fill(empty: IdentityFilter, taken: TakenFilter | undefined): Promise<void> {
    const { stream, logger } = this.#options;
    try {
      const filter = taken === undefined ? empty : await this.#readFilter(taken, empty);
      if (this.#closing.signal.aborted || filter.isComplete) return;
      const startMs = performance.now();
      await filter.fillFrom(this.#fillOptions());
      if (!filter.isComplete) return;
      const ms = Math.round(performance.now() - startMs);
      logger.info({ stream, identities: filter.filter.keys, ms }, 'The identity filter is filled');
    } catch (error) {
      this.#warnOfIncomplete(error);
    }
  }

  #fillOptions() {
    const { stream, pageGranules, now } = this.#options;
    return { connection: this.#background, stream, now, signal: this.#closing.signal, pageGranules };
  }

  #warnOfIncomplete(error: unknown): void {
    const { logger } = this.#options;
    logger.warn({ err: error }, 'The identity filter is incomplete; identities are looked up in the store');
  }

  /** Installs the filter that was taken over, or the empty one, and adds the identities written in the meantime. */
  async #readFilter(taken: TakenFilter, empty: IdentityFilter): Promise<IdentityFilter> {
    const pairs: Pair[] = (this.#unfiltered = []);
    const filter = (await taken.read(this.#closing.signal)) ?? empty;
    for (let at = 0; at < pairs.length; at += 1) {
      filter.add(pairs[at] as Pair);
      if (at % LINES_PER_TURN === LINES_PER_TURN - 1) await nextTurn();
    }
    this.#unfiltered = undefined;
    return (this.#filter = filter);
  }

  async #copyInBackground(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.copied();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'Cannot copy identities yet; they stay in memory');
      if (!this.#closing.signal.aborted)
        this.#timer ??= setTimeout(() => void this.#copyInBackground(), this.#copyAfterMs);
    }
  }

  /** Resolves when all identities that were added are in event_identities. After a failure they count as not copied again. */
  async copied(): Promise<void> {
    // One copy at a time.
    while (this.#copying !== undefined) await this.#copying.done.catch(() => undefined);
    if (this.#uncopied.size === 0) return;
    const identities = this.#uncopied;
    this.#uncopied = new RecentIdentities();
    this.#copying = { identities, done: this.#insert(identities) };
    try {
      await this.#copying.done;
      this.#options.conflicts?.resolve([...identities]);
    } catch (error) {
      for (const identity of identities) this.#uncopied.add(identity);
      throw error;
    } finally {
      this.#copying = undefined;
    }
  }

  async #insert(identities: RecentIdentities): Promise<void> {
    const { stream } = this.#options;
    const lines: string[] = [];
    for (const { project_id, event_id, occurredAtMs, receivedAtMs } of identities) {
      lines.push(JSON.stringify([stream, project_id, event_id, occurredAtMs, receivedAtMs, this.#writer]));
      if (lines.length % LINES_PER_TURN === 0) await nextTurn();
    }
    await this.#background.insert({ table: 'event_identities', columns: COLUMNS, lines, token: undefined });
  }
}
