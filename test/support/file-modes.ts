import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The directory and everything in it that other users of the machine may read, write or enter. A running service may remove some of it meanwhile. */
export function openToOthers(directory: string): string[] {
  const modeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return pathsIn(directory).filter((path) => (modeOf(path) & 0o077) !== 0);
}

/** The directory and everything in it, with the modes that a umask of 022 gives. */
export function openEverything(directory: string): void {
  for (const path of pathsIn(directory)) chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
}

function pathsIn(directory: string): string[] {
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return [directory, ...entries.map((name) => join(directory, name))];
}
