import { closeSync, fsyncSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Writes a file in one step: a reader, a crash or a power cut finds the old bytes or the new ones. */
export function replaceFile(path: string, bytes: Uint8Array | string): void {
  // Hidden: what an interrupted write leaves is none of the files of a directory.
  const temporary = join(dirname(path), `.${basename(path)}.tmp`);
  const file = openSync(temporary, 'w');
  try {
    const data = Buffer.from(bytes);
    for (let at = 0; at < data.length;) at += writeSync(file, data, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}

/** Renames a file or a directory whose content is on disk, and waits until the name is. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  sync(dirname(to));
}

/** Waits until a file, or the list of names in a directory, is on disk. One that is gone by now is left out. */
export function sync(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    fsyncSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Waits until a directory is on disk, with everything in it down to this many levels of directories below it. */
export function syncTree(directory: string, levels = Infinity): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isFile()) sync(path);
    else if (entry.isDirectory() && levels > 0) syncTree(path, levels - 1);
  }
  sync(directory);
}
