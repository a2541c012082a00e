import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { createStore, fatalStoreFault, type Store, waitForSchema } from '../store/store.ts';

/** A stop in the middle would leave the lock of the migrations behind. */
const SCHEMA_WAITS = 10;

/** Opens the store without a service. Throws StoreInUseError when a running service holds the embedded store. */
export async function openStore(config: Config): Promise<Store> {
  const store = createStore(config, createLogger('silent'));
  try {
    await waitForSchema(store, SCHEMA_WAITS);
    return store;
  } catch (error) {
    await store.close();
    throw fatalStoreFault(error, config.dataDir) ?? error;
  }
}
