import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a directory and its missing parents. Not with Node's `recursive`, which never returns where mkdir answers ENOENT
 * for a parent that exists, as in /proc.
 */
export function makeDirectory(path: string, mode?: number): void {
  const parent = dirname(resolve(path));
  if (!existsSync(parent)) makeDirectory(parent, mode);
  try {
    if (!existsSync(path)) mkdirSync(path, { mode });
  } catch (error) {
    // Another process created it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  // Throws for a dangling symbolic link.
  statSync(path);
}
