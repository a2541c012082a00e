import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The directory and all contents that other users of the machine may read, write or enter. A running service may remove some of them at the
 * same time.
 */
export function openToOthers(directory: string): string[] {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return pathsIn(directory).filter((path) => (modeOf(path) & 0o077) !== 0);
}

/** The directory and all contents, with the modes that a umask of 022 gives. */
export function openEverything(directory: string): void {
  for (const path of pathsIn(directory)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
}

function pathsIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return [directory, ...entries.map((name) => join(directory, name))];
}
