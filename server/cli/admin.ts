import { isEmail } from '../accounts/credentials.ts';
import { actorFrom, NO_ACTOR } from '../access/access.ts';
import { MailedTokens } from '../accounts/mailed-tokens.ts';
import { AccountStore } from '../accounts/account-store.ts';
import { createAgents } from '../agents/create-agents.ts';
import { type ActivityEvent, createRecordActivity } from '../activity/activity.ts';
import { type ReadsOptions, writersOf } from '../records/days.ts';
import { verifyReads } from '../records/verify.ts';
import { NO_FILTERS } from '../records/filters.ts';
import { readWindow } from '../records/window.ts';
import type { Config } from '../config.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import { BearerKeys } from '../keys/bearer-keys.ts';
import { KeyRegistry } from '../keys/key-registry.ts';
import { RootKeys } from '../keys/root-keys.ts';
import { hasSigningKey, readSigningKeys, type SigningKeys } from '../keys/signing-keys.ts';
import { Members } from '../members/members.ts';
import { Projects } from '../projects/projects.ts';
import { createBoundedStore } from '../store/bounded-store.ts';
import { CommandError } from './command-error.ts';
import { hasStore, openStore } from './open-store.ts';

/** The parts of the service that the command line uses. */
export type Admin = Awaited<ReturnType<typeof openAdmin>>;

/** `mayCreate`: creates an embedded store that does not exist, with its root key. For any other store, its services have that key. */
export async function openAdmin(config: Config, { mayCreate = false } = {}) {
  const hasKey = hasSigningKey(config) || (mayCreate && !hasStore(config));
  const signing = hasKey ? await readSigningKeys(config) : undefined;
  const store = await openStore(config, { mayCreate });
  const now = Date.now;
  const isSoleWriter = store.kind === 'embedded';
  const shared = { connection: store.lookups, ready: store.ready, isSoleWriter, now };
  const registry = new KeyRegistry(shared);
  const knownKeys = signing && new RootKeys({ ...shared, signing });
  /** Throws if the root key of the services is unknown. */
  const rootKeys = (): RootKeys => {
    if (knownKeys !== undefined) return knownKeys;
    throw new CommandError(
      `There is no root key in ${config.dataDir}. Set GATE_SIGNING_KEY or GATE_DATA_DIR as the services have it. ` +
        'The first start of a service makes a root key.',
    );
  };
  // Without the limits of the service's reads: here they may be slow.
  const { background } = store;
  const auditReads: ReadsOptions = {
    runRead: (text, params) => background.query(text, params),
    runReadBytes: (text, params) => background.queryBytes(text, params),
    writers: writersOf(config),
    now,
  };
  const bounded = createBoundedStore(store.accounts, store.ready);
  const people = { store: bounded, mutex: new KeyedMutex(bounded), now };
  const recordActivity = createRecordActivity(people.store, now);
  const accountStore = new AccountStore(people);
  return {
    projects: new Projects(people),
    members: new Members(people),
    accountStore,
    /** A new account without a password, or one from an earlier invitation, and the link that sets a password. */
    invite: async (email: string) => {
      if (!isEmail(email)) throw new CommandError(`"${email}" is not an e-mail address.`);
      const made = await accountStore.register(email, () => Promise.resolve(''));
      if (made !== undefined) {
        const by = { actor: actorFrom(made), address: '', detail: { by: 'command line' } };
        await recordActivity({ event: 'account_registered', ...by });
      }
      const account = made ?? (await accountStore.find(email));
      if (account === undefined || account.is_verified || account.password_hash !== '')
        throw new CommandError('There is an account with this e-mail already.');
      const token = await new MailedTokens({ ...people, accounts: accountStore }).issue('invite', account);
      return { ...account, link: `${config.dashboardUrl}/reset-password/${token}` };
    },
    bearerKeys: new BearerKeys(
      {
        get current() {
          return rootKeys().current;
        },
        find: (kid) => rootKeys().find(kid),
      },
      registry,
      now,
    ),
    rootKeys,
    storeKind: store.kind,
    /** The agents, as a service with this root key has them. */
    agentsSignedBy: (key: SigningKeys) => {
      const { bundleDaysMax } = config;
      return createAgents({ ...shared, rootKeys: new RootKeys({ ...shared, signing: key }), bundleDaysMax });
    },
    /** Records an activity of the command line. */
    record: (event: ActivityEvent, project_id: string, detail: Record<string, unknown>) =>
      recordActivity({
        event,
        project_id,
        actor: NO_ACTOR,
        address: '',
        detail: { ...detail, by: 'command line' },
      }),
    /** The differences between the reads of a project and its rows; see verifyReads. */
    verify: (projectId: string, window: string) => {
      const scope = { projectId, window: readWindow(window, now()), filters: NO_FILTERS };
      return verifyReads(auditReads, { ...scope, signal: new AbortController().signal });
    },
    close: () => store.close(),
  };
}
