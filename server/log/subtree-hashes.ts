import type { Logger } from 'pino';
import type { LogTables } from './log-tables.ts';
import { SUBTREE } from './subtrees.ts';

/** The number of subtrees in one statement. */
const TOGETHER_MAX = 500;

/** The statement costs nearly as much for one subtree as for a hundred. */
const EVERY_MS = 10_000;

/** Stores the hashes of complete subtrees from time to time. Readers of the log do not depend on them. */
export class SubtreeHashes {
  readonly #tables: Pick<LogTables, 'hash' | 'hashesOf'>;
  readonly #logger: Logger;
  /** The number of stored hashes by project and level, from level 1 on. */
  readonly #stored = new Map<string, number[]>();
  readonly #waiting = new Map<string, number>();
  #storedAtMs = Number.NEGATIVE_INFINITY;

  constructor(tables: Pick<LogTables, 'hash' | 'hashesOf'>, logger: Logger) {
    this.#tables = tables;
    this.#logger = logger;
  }

  /** Notes the new sizes of these logs. */
  grew(sizes: ReadonlyMap<string, number>): void {
    for (const [projectId, size] of sizes) this.#waiting.set(projectId, size);
  }

  /** When to store the next hashes, by performance.now(); Infinity if there are none to store. */
  get dueMs(): number {
    return this.#waiting.size === 0 ? Infinity : this.#storedAtMs + EVERY_MS;
  }

  async store(): Promise<void> {
    this.#storedAtMs = performance.now();
    try {
      for (const [projectId, size] of this.#waiting) {
        await this.#growOne(projectId, size);
        this.#waiting.delete(projectId);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'Cannot store hashes of the log yet');
    }
  }

  async #growOne(projectId: string, size: number): Promise<void> {
    const stored = this.#stored.get(projectId) ?? [];
    this.#stored.set(projectId, stored);
    let complete = Math.floor(size / SUBTREE);
    for (let level = 1; complete > 0; level += 1) {
      let from = (stored[level] ??= await this.#tables.hashesOf(projectId, level));
      while (from < complete) {
        const to = Math.min(complete, from + TOGETHER_MAX);
        await this.#tables.hash(projectId, { level, from, to });
        stored[level] = from = to;
      }
      complete = Math.floor(complete / SUBTREE);
    }
  }
}
