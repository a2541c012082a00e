import { chmodSync, statSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const OTHERS = 0o077;

/** From now on, files and directories that this process creates are for its own user only: 0600 and 0700. */
export function makeFilesPrivate(): void {
  process.umask(OTHERS);
}

/**
 * Closes an existing data directory, and the store in it, to other users. A store that an older version made has modes
 * 0755 and 0644. Its directory is closed last: once that is closed, everything in it is.
 */
export function closeToOthers(dataDir: string, store: string): void {
  if (isOpenToOthers(store)) closeTree(store);
  try {
    close(dataDir);
  } catch (error) {
    // The directory belongs to another user, such as a mounted volume. The store in it is closed nevertheless.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

function closeTree(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) closeTree(child);
    else if (entry.isFile()) close(child);
  }
  close(path);
}

function isOpenToOthers(path: string): boolean {
  return ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & OTHERS) !== 0;
}

function close(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & OTHERS) !== 0) chmodSync(path, mode & 0o7700);
}
