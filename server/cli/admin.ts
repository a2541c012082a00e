import type { Logger } from 'pino';
import { NO_ACTOR } from '../access/access.ts';
import { AccountStore } from '../accounts/account-store.ts';
import { type ActivityEvent, createRecordActivity } from '../activity/activity.ts';
import { type AuditReads, createReads, writersOf } from '../records/days.ts';
import { type Difference, verifyReads } from '../records/verify.ts';
import { readWindow } from '../records/window.ts';
import type { Config } from '../config.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { BearerKeys } from '../keys/bearer-keys.ts';
import { KeyRegistry } from '../keys/key-registry.ts';
import { readSigningKeys } from '../keys/signing-keys.ts';
import { Projects } from '../projects/projects.ts';
import { createStore, fatalStoreFault, type Store } from '../store/store.ts';
import { createBoundedStore } from '../store/bounded-store.ts';

/** The parts of the service that the command line works with. */
export type Admin = {
  projects: Projects;
  accountStore: AccountStore;
  bearerKeys: BearerKeys;
  /** Writes down what the command line did. */
  record: (event: ActivityEvent, projectId: string, detail: Record<string, unknown>) => Promise<void>;
  /** What the reads of a project answer otherwise than its rows do; see verifyReads. */
  verify: (projectId: string, window: string | undefined) => Promise<Difference[]>;
  close(): Promise<void>;
};

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
  const now = Date.now;
  const shared = {
    connection: store.lookups,
    ready: store.ready,
    isSoleWriter: store.kind === 'embedded',
    now,
  };
  const people = { store: createBoundedStore(store.accounts, store.ready), mutex: new KeyedMutex(), now };
  const recordActivity = createRecordActivity(people.store, now);
  return {
    projects: new Projects(people),
    accountStore: new AccountStore(people),
    bearerKeys: new BearerKeys(signing, new KeyRegistry(shared), now),
    record: (event, project_id, detail) =>
      recordActivity({
        event,
        project_id,
        actor: NO_ACTOR,
        address: '',
        detail: { ...detail, by: 'command line' },
      }),
    verify: (projectId, window) => {
      const signal = new AbortController().signal;
      return verifyReads(readsOf(store, config), { projectId, window: readWindow(window, now()), signal });
    },
    close: () => store.close(),
  };
}

function readsOf({ reads }: Store, config: Config): AuditReads {
  return createReads({
    runRead: (text, params) => reads.query(text, params),
    runReadBytes: (text, params) => reads.queryBytes(text, params),
    writers: writersOf(config),
    now: Date.now,
  });
}
