import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export { makeDirectory } from '../client/make-directory.ts';

/** A file that marks a data directory until a restore into it has ended. */
export const UNFINISHED_RESTORE = 'restore-unfinished';

/** Why this directory cannot be used or created, as the end of a sentence; undefined if it can. Creates nothing. */
export function directoryFault(path: string): string | undefined {
  if (existsSync(join(path, UNFINISHED_RESTORE)))
    return 'a restore into it was interrupted. Empty it, and restore again';
  const existing = nearestExisting(resolve(path));
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a directory`;
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${existing} is not writable (${(error as NodeJS.ErrnoException).code})`;
  }
}

function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      if (statSync(at, { throwIfNoEntry: false }) !== undefined) return at;
    } catch {
      // A parent is a file, or may not be read, but a directory above it exists.
    }
  }
}
