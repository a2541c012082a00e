import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'handover-';
const TEMPORARY = '.tmp';

/**
 * Files that a process leaves in the data directory for the next one. A file describes the store as its process left it, so
 * it is removed, for good, before the next process can write: it is taken once or never.
 */
export class Handover {
  readonly #dataDir: string;
  #taken: Map<string, FileHandle> | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Opens what was left, and removes it. Only the process with the lock of the data directory may call it. */
  async open(): Promise<void> {
    if (this.#taken !== undefined) return;
    const taken = new Map<string, FileHandle>();
    const entries = await readdir(this.#dataDir, { withFileTypes: true });
    const left = entries
      .filter((entry) => entry.isFile() && entry.name.startsWith(PREFIX))
      .map(({ name }) => name);
    for (const name of left) {
      const path = join(this.#dataDir, name);
      const file = name.endsWith(TEMPORARY) ? undefined : await open(path).catch(() => undefined);
      if (file !== undefined) taken.set(name.slice(PREFIX.length), file);
      await unlink(path);
    }
    if (left.length > 0) await this.#sync();
    this.#taken = taken;
  }

  /** A file that was left, which the caller closes. It has no name any more. */
  take(name: string): FileHandle | undefined {
    const file = this.#taken?.get(name);
    this.#taken?.delete(name);
    return file;
  }

  /** Leaves a file with what `write` writes: durably and whole, or not at all. Rejects when the signal comes before the end. */
  async leave(name: string, write: (file: FileHandle) => Promise<void>, signal: AbortSignal): Promise<void> {
    const path = join(this.#dataDir, PREFIX + name);
    const temporary = path + TEMPORARY;
    const file = await open(temporary, 'w', 0o600);
    try {
      try {
        await write(file);
        await file.sync();
      } finally {
        await file.close();
      }
      signal.throwIfAborted();
      await rename(temporary, path);
      await this.#sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const file of this.#taken?.values() ?? []) await file.close();
    this.#taken?.clear();
  }

  async #sync(): Promise<void> {
    const directory = await open(this.#dataDir);
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}
