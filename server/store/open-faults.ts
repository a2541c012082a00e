import { forbiddenFileText } from './embedded-folder.ts';
import { SchemaTooNewError } from './migrate.ts';
import { StoreError } from './store-error.ts';

/** The embedded store cannot be opened. */
export class StoreOpenError extends Error {}

/** The data directory belongs to another process. */
export class StoreInUseError extends StoreOpenError {
  constructor(dataDir: string) {
    super(`The data directory ${dataDir} is in use by another process.`);
    this.name = 'StoreInUseError';
  }
}

/** The error that must prevent the start of the service, because retrying would not help; otherwise undefined. */
export function fatalStoreFault(error: unknown, dataDir: string): Error | undefined {
  const origin = error instanceof StoreError ? error.cause : error;
  if (origin instanceof SchemaTooNewError || origin instanceof StoreInUseError) return origin;
  const cause = String(origin);
  const isNotOpened = cause.includes('Failed to create connection');
  if (origin instanceof StoreOpenError || isNotOpened || isNoPermission(origin)) {
    const forbidden = forbiddenFileText(dataDir);
    if (forbidden !== undefined) return new StoreOpenError(forbidden);
  }
  if (origin instanceof StoreOpenError) return origin;
  // The engine prints the reason only to standard error. Our own lock does not see a process in another container, or of another program.
  if (isNotOpened) {
    return new StoreOpenError(
      `The store in ${dataDir} cannot be opened: see the message of the engine above. If its disk is full, free some ` +
        'space. If another process uses it, stop that process. If permission is denied, give all its files to the user ' +
        'of the service (chown -R). If it is damaged, restore a backup (docs/operations.md).',
    );
  }
  if (cause.includes('ERR_MODULE_NOT_FOUND') || cause.includes("Cannot find package 'chdb'")) {
    return new Error(
      'The embedded engine (npm package chdb) is not installed for this platform. ' +
        'Run npm ci without --omit=optional, or set GATE_CLICKHOUSE_URL to a ClickHouse server.',
    );
  }
  return undefined;
}

function isNoPermission(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(String((error as NodeJS.ErrnoException | undefined)?.code));
}
