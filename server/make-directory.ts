import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Why this can be no directory to write to, as the end of a sentence; undefined when it can. Makes nothing. */
export function directoryFault(path: string): string | undefined {
  const existing = nearestExisting(resolve(path));
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is no directory`;
    accessSync(existing, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${existing} cannot be written to (${(error as NodeJS.ErrnoException).code})`;
  }
}

/**
 * Makes the directory and those above it that are missing. Step by step, because Node's own `recursive` never returns where
 * the system says that there is no such file, as below /proc.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let at = resolve(path); nearestExisting(at) !== at; at = dirname(at)) missing.unshift(at);
  for (const directory of missing) {
    try {
      mkdirSync(directory);
    } catch (error) {
      // Another process made it meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  // A link that leads nowhere exists, too.
  statSync(path);
}

function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      if (statSync(at, { throwIfNoEntry: false }) !== undefined) return at;
    } catch {
      // A file stands where a directory should, or it may not be looked into: above it, something exists.
    }
  }
}
