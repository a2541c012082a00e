import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { EMBEDDED_FOLDER } from '../store/embedded-folder.ts';
import { fatalStoreFault } from '../store/open-faults.ts';
import { createStore, type Store } from '../store/store.ts';
import { CommandError } from './command-error.ts';
import { showProgress } from './transfer.ts';

/** False for an embedded store that has not been created yet. */
export function hasStore({ clickhouse, dataDir }: Config): boolean {
  return clickhouse !== undefined || existsSync(join(dataDir, EMBEDDED_FOLDER));
}

export function requireStore(config: Config): void {
  if (hasStore(config)) return;
  throw new CommandError(
    `There is no store in ${config.dataDir}. Set GATE_DATA_DIR to the data directory of the service.`,
  );
}

/**
 * Opens the store without a service. Throws StoreInUseError if a running service holds the embedded store. Creates a missing store only
 * with `mayCreate`.
 */
export async function openStore(config: Config, { mayCreate = false } = {}): Promise<Store> {
  if (!mayCreate) requireStore(config);
  // An interruption would leave the migration lock behind.
  const store = createStore(config, createLogger('silent'), {
    mayCreate,
    waitsForMigration: true,
    showProgress,
  });
  try {
    await store.ready();
    return store;
  } catch (error) {
    await store.close();
    throw fatalStoreFault(error, config.dataDir) ?? error;
  }
}
