import { accessSync, constants, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the embedded engine in the data directory. */
export const EMBEDDED_FOLDER = 'clickhouse';

const READ_AND_WRITE = constants.R_OK | constants.W_OK;

/** Names a file of the store that this process may not use, its owner, and what to do. Undefined if it may use all of them. */
export function forbiddenFileText(dataDir: string): string | undefined {
  const path = findForbidden(join(dataDir, EMBEDDED_FOLDER));
  if (path === undefined) return undefined;
  const { uid, mode } = lstatSync(path);
  const user = process.geteuid?.();
  return (
    `${path} cannot be read and written by the user of this process (${user}): its owner is ${uid}, and its mode is ${(mode & 0o7777).toString(8)}. ` +
    `Give the store to the user of the service: chown -R ${user} ${dataDir} && chmod -R u+rwX ${dataDir}`
  );
}

function findForbidden(path: string): string | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isSymbolicLink()) return undefined;
  try {
    accessSync(path, READ_AND_WRITE | (stats.isDirectory() ? constants.X_OK : 0));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' ? path : undefined;
  }
  if (!stats.isDirectory()) return undefined;
  for (const name of readdirSync(path)) {
    const found = findForbidden(join(path, name));
    if (found !== undefined) return found;
  }
  return undefined;
}
