import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import {
  GrowingFilter,
  isAfter,
  seedOfText,
  UUID_WORDS,
  type UuidWords,
  wordsOfUuid,
} from './bloom-filter.ts';
import type { Pair, Stream } from './identity.ts';

export const FILTER_SIZES = { keysFirst: 250_000, bytesMax: 1024 * 1024 * 1024 };
const GRANULE_ROWS = 256;
/** Spare room in a new filter, so that it seldom grows before it is filled again: growth doubles its size, in memory and on disk. */
const ROOM = 1.25;
const PAGE_GRANULES = 2048;
/**
 * How many keys are added between looks at the clock, and after what time other work gets a turn. New pages of memory may take ten times as
 * long.
 */
const STEP_KEYS = 2048;
const TURN_MS = 4;
const UUID_FIRST = '00000000-0000-0000-0000-000000000000';
const UUID_LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type FillOptions = {
  connection: Connection;
  stream: Stream;
  now: () => number;
  signal: AbortSignal;
  pageGranules?: number | undefined;
};

/** `lacks`: the position from which it lacks identities, which later blocks of the store hold; undefined if it lacks none. */
export type SavedFilter = {
  filter: GrowingFilter;
  filledAtMs: number;
  lacks?: { afterMs: number; afterBlock: number } | undefined;
};

type Bound = { project_id: string; event_id: string; granules: string };
type Page = { project_id: string; from: string; to: string; isLast: boolean };

/** Knows which identities are certainly new. It is exact only in a process that is the sole writer of its store. */
export class IdentityFilter {
  readonly filter: GrowingFilter;
  /** When the filling began; identities that have expired since are still in it. Undefined before. */
  filledAtMs: number | undefined;
  /** Projects that are not completely read yet, each with the event_id read last. Undefined until the projects are known. */
  #unread: Map<string, UuidWords | undefined> | undefined;
  #last = { projectId: '', seed: seedOfText('') };
  /** The time and the block of the store (see events_state.sql) up to which it was read from a file. */
  readonly lacks: SavedFilter['lacks'];

  /**
   * An empty filter, or one that was complete. The latter comes with the time when it was filled, or the block of the store up to which it
   * was complete.
   */
  constructor(saved?: SavedFilter) {
    this.filter = saved?.filter ?? new GrowingFilter(FILTER_SIZES);
    this.filledAtMs = saved?.filledAtMs;
    this.lacks = saved?.lacks;
    if (saved !== undefined && saved.lacks === undefined) this.#unread = new Map();
  }

  /** Whether it holds all living identities. */
  get isComplete(): boolean {
    return this.#unread?.size === 0 && this.filter.isComplete;
  }

  add({ project_id, event_id }: Pair): void {
    this.filter.add(this.#seedOf(project_id), wordsOfUuid(event_id));
  }

  /** False only if no living record has this identity. */
  mayHave({ project_id, event_id }: Pair): boolean {
    const words = wordsOfUuid(event_id);
    return !this.#isRead(project_id, words) || this.filter.mayHave(this.#seedOf(project_id), words);
  }

  /** Events of one project mostly arrive together. */
  #seedOf(projectId: string): number {
    if (projectId !== this.#last.projectId) this.#last = { projectId, seed: seedOfText(projectId) };
    return this.#last.seed;
  }

  /** Reads the missing identities from the store, page by page in their order. Until then, `mayHave` is true for the rest. */
  async fillFrom(options: FillOptions): Promise<void> {
    const { connection, stream, now } = options;
    const after_block = this.lacks?.afterBlock ?? null;
    this.filledAtMs ??= now();
    const rows = await connection.query<{ project_id: string }>(sql('identities_projects'), {
      stream,
      after_block,
    });
    const projects = rows.map(({ project_id }) => project_id);
    this.#unread = new Map(projects.map((projectId) => [projectId, undefined]));
    if (projects.length === 0) return;
    await this.#read(projects, options, { only_project: null, after_block });
  }

  /** Makes `mayHave` true for all identities of a project. The filter must be filled. */
  forget(projectId: string): void {
    this.#unread?.set(projectId, undefined);
  }

  /** Reads all identities of a project again. */
  async readAgain(projectId: string, options: FillOptions): Promise<void> {
    await this.#read([projectId], options, { only_project: projectId, after_block: null });
  }

  async #read(
    projects: string[],
    { connection, stream, signal, pageGranules = PAGE_GRANULES }: FillOptions,
    { only_project, after_block }: { only_project: string | null; after_block: number | null },
  ): Promise<void> {
    const asked = { stream, after_block };
    const params = { ...asked, only_project, page_granules: pageGranules };
    const bounds = await connection.query<Bound>(sql('identities_bounds'), params);
    if (after_block === null)
      this.filter.reserve(Math.ceil(Number(bounds[0]?.granules ?? 0) * GRANULE_ROWS * ROOM));
    const pages = projects.flatMap((projectId) => pagesOf(projectId, bounds));
    const read = (page: Page | undefined) => {
      if (page === undefined || signal.aborted || !this.filter.isComplete) return undefined;
      const { project_id, from, to } = page;
      const bytes = connection.queryBytes(sql('identities_page'), { ...asked, project_id, from, to });
      // The page is awaited later.
      bytes.catch(() => undefined);
      return bytes;
    };
    let reading = read(pages[0]);
    for (const [index, page] of pages.entries()) {
      const bytes = await reading;
      if (bytes === undefined) return;
      // The engine reads the next page while this one is added.
      reading = read(pages[index + 1]);
      await this.#addPage(page, bytes);
    }
  }

  async #addPage({ project_id, to, isLast }: Page, bytes: Buffer): Promise<void> {
    const seed = seedOfText(project_id);
    const words = wordsOf(bytes);
    let turnMs = performance.now();
    for (let at = 0; at < words.length; at += STEP_KEYS * UUID_WORDS) {
      this.filter.addAll(seed, words.subarray(at, at + STEP_KEYS * UUID_WORDS));
      if (performance.now() - turnMs < TURN_MS) continue;
      await turn();
      turnMs = performance.now();
    }
    if (isLast) this.#unread?.delete(project_id);
    else this.#unread?.set(project_id, wordsOfUuid(to));
  }

  /** Whether the filter is certain to hold this identity if the store does. */
  #isRead(projectId: string, words: UuidWords): boolean {
    if (this.#unread === undefined) return false;
    if (!this.#unread.has(projectId)) return true;
    const readTo = this.#unread.get(projectId);
    return readTo !== undefined && !isAfter(words, readTo);
  }
}

/** The bounds only make pages of similar size: the pages of a project always cover all of it. */
function pagesOf(projectId: string, bounds: Bound[]): Page[] {
  const between = bounds.filter(({ project_id }) => project_id === projectId).map(({ event_id }) => event_id);
  const ends = [...between, UUID_LAST];
  return ends.map((to, index) => ({
    project_id: projectId,
    from: ends[index - 1] ?? UUID_FIRST,
    to,
    isLast: index === ends.length - 1,
  }));
}

/** The bytes of UUIDs as words, without a copy if they are aligned. */
function wordsOf(bytes: Buffer): Int32Array {
  const aligned = bytes.byteOffset % Int32Array.BYTES_PER_ELEMENT === 0 ? bytes : Uint8Array.from(bytes);
  return new Int32Array(aligned.buffer, aligned.byteOffset, bytes.length / Int32Array.BYTES_PER_ELEMENT);
}
