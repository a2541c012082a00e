import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { RETENTION_MS } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { GrowingFilter, seedOfText, uuidOfWords, type UuidWords, wordsOfUuid } from './bloom-filter.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Pair, type Stream } from './identity.ts';
import type { IdentityConflicts } from './identity-conflicts.ts';

/** Identities that are durable go to the table of identities after this long, all together. */
const COPY_AFTER_MS = 1000;
/** Sooner where other services look for them. */
const COPY_AFTER_MS_SHARED = 250;
/** With this many not copied yet, writes wait for the copy. */
const UNCOPIED_MAX = 500_000;
const WRITER_MAX = 2 ** 48 - 1;
const FILTER_KEYS_FIRST = 1_000_000;
const FILTER_BYTES_MAX = 512 * 1024 * 1024;
const WARM_PAGE_ROWS = 250_000;
const UUID_BYTES = 16;
const COLUMNS = ['stream', 'project_id', 'event_id', 'occurred_at', 'received_at', 'writer'] as const;

type IdentityIndexOptions = {
  /** For look-ups, which callers wait for. */
  connection: Connection;
  /** For everything else; the same where it is left out. */
  background?: Connection;
  stream: Stream;
  /** Where other processes write to this store. Without them, what the filter does not know is new. */
  conflicts?: IdentityConflicts | undefined;
  /** Identities read in one step while the filter is filled at the start. */
  pageRows?: number;
  logger: Logger;
  now: () => number;
};

/**
 * Answers exactly which identities are taken, for as long as their record lives.
 *
 * Three layers, each asked only when the one before cannot tell: identities written in the last moment (a map), a
 * filter that knows what is certainly new, and the table of identities.
 */
export class IdentityIndex {
  readonly #options: IdentityIndexOptions;
  readonly #filter = new GrowingFilter({ keysFirst: FILTER_KEYS_FIRST, bytesMax: FILTER_BYTES_MAX });
  readonly #seeds = new Map<string, number>();
  #uncopied = new Map<string, Identity>();
  #copying: { identities: Map<string, Identity>; done: Promise<void> } | undefined;
  #opening: Promise<void> | undefined;
  /** Projects that the filter does not know whole yet, and up to which identity it does; unset until they are listed. */
  #unread: Map<string, UuidWords | undefined> | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  readonly #background: Connection;
  readonly #writer: number;
  readonly #copyAfterMs: number;

  constructor(options: IdentityIndexOptions) {
    this.#options = options;
    this.#background = options.background ?? options.connection;
    const isShared = options.conflicts !== undefined;
    this.#writer = isShared ? randomInt(1, WRITER_MAX) : 0;
    this.#copyAfterMs = isShared ? COPY_AFTER_MS_SHARED : COPY_AFTER_MS;
  }

  /** Fills in what a crash kept out of the table of identities. Must have worked once before anything is written. */
  open(): Promise<void> {
    this.#opening ??= this.#fill().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Remembers identities whose rows are durable. */
  add(identities: Identity[]): void {
    for (const identity of identities) {
      this.#uncopied.set(keyOf(identity), identity);
      if (this.#options.conflicts === undefined) {
        this.#filter.add(this.#seedOf(identity.project_id), wordsOfUuid(identity.event_id));
      }
    }
    this.#timer ??= setTimeout(() => void this.#copyInBackground(), this.#copyAfterMs);
  }

  /** These may have been written, and may yet be. */
  doubt(identities: Identity[]): void {
    this.#options.conflicts?.doubt(identities, (written) => this.add(written));
  }

  /** The keys of those identities that a living record has taken. Rejects when the store cannot tell. */
  async findKnown(identities: Identity[]): Promise<Set<string>> {
    if (this.#uncopied.size > UNCOPIED_MAX) await this.#copy();
    const known = new Set<string>();
    const unsure: Identity[] = [];
    for (const identity of identities) {
      const key = keyOf(identity);
      const recent = this.#uncopied.get(key) ?? this.#copying?.identities.get(key);
      if (recent !== undefined && recent.occurredAtMs >= this.#aliveSinceMs()) known.add(key);
      else if (this.#mayBeKnown(identity)) unsure.push(identity);
    }
    if (unsure.length > 0) for (const key of await this.#lookUp(unsure)) known.add(key);
    return known;
  }

  /** Copies what is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    if (this.#opening === undefined) return;
    await this.#opening.catch(() => undefined);
    await this.#copy();
    await this.#options.conflicts?.close();
  }

  #mayBeKnown({ project_id, event_id }: Identity): boolean {
    if (this.#options.conflicts !== undefined) return true;
    const words = wordsOfUuid(event_id);
    return !this.#isRead(project_id, words) || this.#filter.mayHave(this.#seedOf(project_id), words);
  }

  /** Whether the filter knows this identity, if the store has it. */
  #isRead(projectId: string, words: UuidWords): boolean {
    if (this.#unread === undefined) return false;
    if (!this.#unread.has(projectId)) return true;
    const last = this.#unread.get(projectId);
    return last !== undefined && !isAfter(words, last);
  }

  async #lookUp(identities: Identity[]): Promise<string[]> {
    const { connection, stream } = this.#options;
    const alive_since = clickhouseTime(this.#aliveSinceMs());
    const chunks = Array.from(chunksOf(identities), (chunk) =>
      connection.query<Pair>(sql('identities_known'), { stream, ...idsOf(chunk), alive_since }),
    );
    return (await Promise.all(chunks)).flat().map(keyOf);
  }

  #aliveSinceMs(): number {
    return this.#options.now() - RETENTION_MS;
  }

  #seedOf(projectId: string): number {
    let seed = this.#seeds.get(projectId);
    if (seed === undefined) this.#seeds.set(projectId, (seed = seedOfText(projectId)));
    return seed;
  }

  async #fill(): Promise<void> {
    const { stream, conflicts, logger } = this.#options;
    await this.#background.command(sql('identities_fill'), { stream, table: stream });
    conflicts?.checkRecent();
    if (conflicts === undefined) {
      this.#warm().catch((error: unknown) =>
        logger.warn({ err: error }, 'Identities are looked up one by one'),
      );
    }
  }

  /** Reads all living identities into the filter, page by page in their order; what is not read yet is looked up. */
  async #warm(): Promise<void> {
    const { stream, pageRows = WARM_PAGE_ROWS } = this.#options;
    const projects = await this.#background.query<{ project_id: string }>(sql('identities_projects'), {
      stream,
    });
    this.#unread = new Map(projects.map(({ project_id }) => [project_id, undefined]));
    for (const { project_id } of projects) {
      for (let rows = pageRows; rows === pageRows;) {
        if (this.#isClosed) return;
        const page = await this.#background.queryBytes(sql('identities_page'), {
          stream,
          project_id,
          from: uuidOfWords(this.#unread.get(project_id) ?? [0, 0, 0, 0]),
          alive_since: clickhouseTime(this.#aliveSinceMs()),
          limit: pageRows,
        });
        rows = page.length / UUID_BYTES;
        const last = this.#addPage(project_id, page);
        if (last !== undefined) this.#unread.set(project_id, last);
      }
      this.#unread.delete(project_id);
    }
  }

  /** RowBinary keeps a UUID as two little-endian 64-bit halves, the high one first. Returns the last. */
  #addPage(projectId: string, page: Buffer): UuidWords | undefined {
    const seed = this.#seedOf(projectId);
    let last: UuidWords | undefined;
    for (let at = 0; at < page.length; at += UUID_BYTES) {
      const words = [
        page.readInt32LE(at + 4),
        page.readInt32LE(at),
        page.readInt32LE(at + 12),
        page.readInt32LE(at + 8),
      ] as const;
      this.#filter.add(seed, words);
      last = words;
    }
    return last;
  }

  async #copyInBackground(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.#copy();
    } catch (error) {
      this.#options.logger.warn({ err: error }, 'Identities could not be copied yet; they stay in memory');
      if (!this.#isClosed) this.#timer ??= setTimeout(() => void this.#copyInBackground(), this.#copyAfterMs);
    }
  }

  /** One copy at a time. What could not be copied goes back among the uncopied. */
  async #copy(): Promise<void> {
    while (this.#copying !== undefined) await this.#copying.done.catch(() => undefined);
    if (this.#uncopied.size === 0) return;
    const identities = this.#uncopied;
    this.#uncopied = new Map();
    this.#copying = { identities, done: this.#insert(identities) };
    try {
      await this.#copying.done;
      this.#options.conflicts?.check([...identities.values()]);
    } catch (error) {
      for (const [key, identity] of identities) this.#uncopied.set(key, identity);
      throw error;
    } finally {
      this.#copying = undefined;
    }
  }

  #insert(identities: Map<string, Identity>): Promise<void> {
    const { stream } = this.#options;
    const lines = Array.from(identities.values(), ({ project_id, event_id, occurredAtMs, receivedAtMs }) =>
      JSON.stringify([
        stream,
        project_id,
        event_id,
        clickhouseTime(occurredAtMs),
        clickhouseTime(receivedAtMs),
        this.#writer,
      ]),
    );
    return this.#background.insert({ table: 'event_identities', columns: COLUMNS, lines, token: '' });
  }
}

/** As the store orders UUIDs: by their second halves first. */
function isAfter(a: UuidWords, b: UuidWords): boolean {
  for (const at of [2, 3, 0, 1] as const) if (a[at] !== b[at]) return a[at] >>> 0 > b[at] >>> 0;
  return false;
}
