import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Why this directory cannot be used or created, as the end of a sentence; undefined if it can. Creates nothing. */
export function directoryFault(path: string): string | undefined {
  const existing = nearestExisting(resolve(path));
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a directory`;
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${existing} is not writable (${(error as NodeJS.ErrnoException).code})`;
  }
}

/**
 * Creates a directory and its missing parents. Not with Node's `recursive`, which never returns where mkdir answers ENOENT
 * for a parent that exists, as in /proc.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); nearestExisting(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    try {
      mkdirSync(directory);
    } catch (error) {
      // Another process created it at the same time.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  // Throws for a dangling symbolic link.
  statSync(path);
}

function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      if (statSync(at, { throwIfNoEntry: false }) !== undefined) return at;
    } catch {
      // A parent is a file, or may not be read: a directory above it exists.
    }
  }
}
