import { closeSync, fsyncSync, openSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Writes a file in one step: after a crash or a power cut, a reader finds the old bytes or the new ones. */
export function replaceFile(path: string, bytes: Uint8Array | string): void {
  // Hidden, so that what an interrupted write leaves is not taken for a file of the directory.
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

/** Errors that a sync must ignore: the path is gone, may not be read, or is a directory of a file system that does not sync them. */
const NOT_SYNCED = ['ENOENT', 'EACCES', 'EINVAL', 'ENOTSUP', 'EROFS'];

/** Waits until a file, or the list of names in a directory, is on disk, if the system supports it. */
export function sync(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    fsyncSync(file);
  } catch (error) {
    if (!NOT_SYNCED.includes(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Waits until the name of a file or a directory is on disk, including the names of the directories above it, which may be new as well. */
export function syncName(path: string): void {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) sync(dirname(at));
}

/** Waits until a directory is on disk, with everything in it down to this many levels. */
export function syncTree(directory: string, levels = Infinity): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isFile()) sync(path);
    else if (entry.isDirectory() && levels > 0) syncTree(path, levels - 1);
  }
  sync(directory);
}
