import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import { createStore, fatalStoreFault, type Store } from '../store/store.ts';

/** Opens the store without a service. Throws StoreInUseError when a running service holds the embedded store. */
export async function openStore(config: Config): Promise<Store> {
  const store = createStore(config, createLogger('silent'));
  try {
    await store.ready();
    return store;
  } catch (error) {
    await store.close();
    throw fatalStoreFault(error, config.dataDir) ?? error;
  }
}
