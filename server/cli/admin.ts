import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { BearerKeys } from '../keys/bearer-keys.ts';
import { KeyRegistry } from '../keys/key-registry.ts';
import { readSigningKeys } from '../keys/signing-keys.ts';
import { Projects } from '../projects/projects.ts';
import { createStore, fatalStoreFault } from '../store/store.ts';

/** The parts of the service that the command line works with. */
export type Admin = { projects: Projects; bearerKeys: BearerKeys; close(): Promise<void> };

/** Opens the store without a service. Throws StoreInUseError when the running service holds the embedded one. */
export async function openAdmin(config: Config, logger: Logger): Promise<Admin> {
  const store = createStore(config, logger);
  try {
    await store.ready();
  } catch (error) {
    throw fatalStoreFault(error, config.dataDir) ?? error;
  }
  const { signingKey, retiredSigningKeys: retired, dataDir } = config;
  const signing = await readSigningKeys({ signingKey, retired, dataDir });
  const shared = {
    connection: store.lookups,
    ready: store.ready,
    isSoleWriter: store.kind === 'embedded',
    now: Date.now,
  };
  return {
    projects: new Projects(shared),
    bearerKeys: new BearerKeys(signing, new KeyRegistry(shared), Date.now),
    close: () => store.close(),
  };
}
