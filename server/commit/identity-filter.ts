import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { GrowingFilter, seedOfText, uuidOfWords, type UuidWords, wordsOfUuid } from './bloom-filter.ts';
import type { Pair, Stream } from './identity.ts';

const KEYS_FIRST = 1_000_000;
const BYTES_MAX = 512 * 1024 * 1024;
const PAGE_ROWS = 250_000;
const UUID_BYTES = 16;

type FillOptions = {
  connection: Connection;
  stream: Stream;
  aliveSinceMs: () => number;
  signal: AbortSignal;
  pageRows?: number | undefined;
};

/** Tells which identities are certainly new. It is exact only in a process that is the sole writer of its store. */
export class IdentityFilter {
  readonly #filter = new GrowingFilter({ keysFirst: KEYS_FIRST, bytesMax: BYTES_MAX });
  /** Projects that are not completely read yet, with the last event_id read. Undefined until the projects are known. */
  #unread: Map<string, UuidWords | undefined> | undefined;
  #last = { projectId: '', seed: seedOfText('') };

  add({ project_id, event_id }: Pair): void {
    this.#filter.add(this.#seedOf(project_id), wordsOfUuid(event_id));
  }

  /** False only when no living record has this identity. */
  mayHave({ project_id, event_id }: Pair): boolean {
    const words = wordsOfUuid(event_id);
    return !this.#isRead(project_id, words) || this.#filter.mayHave(this.#seedOf(project_id), words);
  }

  /** Events of one project mostly come together. */
  #seedOf(projectId: string): number {
    if (projectId !== this.#last.projectId) this.#last = { projectId, seed: seedOfText(projectId) };
    return this.#last.seed;
  }

  /** Reads all living identities of the store, page by page in their order. Until then `mayHave` is true for the rest. */
  async fill({ connection, stream, aliveSinceMs, signal, pageRows = PAGE_ROWS }: FillOptions): Promise<void> {
    const projects = await connection.query<{ project_id: string }>(sql('identities_projects'), { stream });
    this.#unread = new Map(projects.map(({ project_id }) => [project_id, undefined]));
    for (const { project_id } of projects) {
      for (let rows = pageRows; rows === pageRows;) {
        if (signal.aborted) return;
        const page = await connection.queryBytes(sql('identities_page'), {
          stream,
          project_id,
          from: uuidOfWords(this.#unread.get(project_id) ?? [0, 0, 0, 0]),
          alive_since: clickhouseTime(aliveSinceMs()),
          limit: pageRows,
        });
        rows = page.length / UUID_BYTES;
        this.#addPage(project_id, page);
      }
      this.#unread.delete(project_id);
    }
  }

  /** RowBinary holds a UUID as two little-endian 64-bit halves, the high one first. */
  #addPage(projectId: string, page: Buffer): void {
    const seed = seedOfText(projectId);
    let last: UuidWords | undefined;
    for (let at = 0; at < page.length; at += UUID_BYTES) {
      last = [
        page.readInt32LE(at + 4),
        page.readInt32LE(at),
        page.readInt32LE(at + 12),
        page.readInt32LE(at + 8),
      ];
      this.#filter.add(seed, last);
    }
    if (last !== undefined) this.#unread?.set(projectId, last);
  }

  /** Whether the filter holds this identity if the store does. */
  #isRead(projectId: string, words: UuidWords): boolean {
    if (this.#unread === undefined) return false;
    if (!this.#unread.has(projectId)) return true;
    const last = this.#unread.get(projectId);
    return last !== undefined && !isAfter(words, last);
  }
}

/** The order of UUIDs in ClickHouse: by their second half first. */
function isAfter(a: UuidWords, b: UuidWords): boolean {
  for (const at of [2, 3, 0, 1] as const) if (a[at] !== b[at]) return a[at] >>> 0 > b[at] >>> 0;
  return false;
}
