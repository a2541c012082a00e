import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'handover-';
/** Marks a file that may be behind the store: a process has opened the store since. */
const BEHIND = '.behind';
const TEMPORARY = '.tmp';

/** A file that was left, which the taker closes. `isFinal`: a stop left it, and no process has had the store since. */
type Taken = { file: FileHandle; isFinal: boolean };

/**
 * Files that a process leaves in the data directory for the next one. A file describes the store as its process left it. Before the next
 * process can write, the file is renamed durably, so that later ones know that it may be behind.
 */
export class Handover {
  readonly #dataDir: string;
  #taken: Map<string, Taken> | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  /** Opens the files that were left. Only the process with the lock of the data directory may call it. */
  async open(): Promise<void> {
    if (this.#taken !== undefined) return;
    const taken = new Map<string, Taken>();
    const entries = await readdir(this.#dataDir, { withFileTypes: true });
    const left = entries
      .filter((entry) => entry.isFile() && entry.name.startsWith(PREFIX))
      .map(({ name }) => name);
    for (const fileName of left) {
      const path = join(this.#dataDir, fileName);
      const isFinal = !fileName.endsWith(BEHIND);
      const name = fileName.slice(PREFIX.length, isFinal ? undefined : -BEHIND.length);
      const file = name.endsWith(TEMPORARY) ? undefined : await open(path).catch(() => undefined);
      if (file === undefined) {
        await unlink(path);
        continue;
      }
      if (isFinal) await rename(path, this.#pathOf(name));
      taken.set(name, { file, isFinal });
    }
    if (left.length > 0) await this.#sync();
    this.#taken = taken;
  }

  /** A file that was left. It stays for later processes until this one leaves another or removes it. */
  take(name: string): Taken | undefined {
    const taken = this.#taken?.get(name);
    this.#taken?.delete(name);
    return taken;
  }

  /**
   * Leaves a file that `write` fills: durably and whole, or not at all. `isFinal`: this process writes nothing more to the store. Rejects
   * if the signal aborts before the end.
   */
  async leave(
    name: string,
    write: (file: FileHandle) => Promise<void>,
    { isFinal, signal }: { isFinal: boolean; signal: AbortSignal },
  ): Promise<void> {
    const path = this.#pathOf(name);
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
      if (isFinal) await rename(path, join(this.#dataDir, PREFIX + name));
      await this.#sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  }

  /** Durably removes the files that other processes left. */
  async clear(): Promise<void> {
    for (const name of this.#taken?.keys() ?? []) await this.remove(name);
    await this.close();
  }

  /** Durably removes the file that another process left under this name. */
  async remove(name: string): Promise<void> {
    await unlink(this.#pathOf(name));
    await this.#sync();
  }

  async close(): Promise<void> {
    for (const { file } of this.#taken?.values() ?? []) await file.close();
    this.#taken?.clear();
  }

  #pathOf(name: string): string {
    return join(this.#dataDir, PREFIX + name + BEHIND);
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
