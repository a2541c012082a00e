import type { Config } from '../config.ts';
import { createRecordActivity } from '../activity/activity.ts';
import { createRecordReads } from '../activity/record-reads.ts';
import { KeyedMutex } from '../keyed-mutex.ts';
import type { BearerKeys } from '../keys/bearer-keys.ts';
import { PASSWORD_WAIT_MS_MAX, PASSWORDS_RUNNING_MAX, PASSWORDS_WAITING_MAX } from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import { Members } from '../members/members.ts';
import { Projects } from '../projects/projects.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { createAccess } from '../access/access.ts';
import { AccountStore } from './account-store.ts';
import { Accounts } from './accounts.ts';
import { createDispossess, type DispossessDeps } from './dispossess.ts';
import { LoginLimits } from './login-limits.ts';
import { MailRequests } from './mail-requests.ts';
import { MailedTokens } from './mailed-tokens.ts';
import { OidcProvider } from './oidc-provider.ts';
import { Passwords } from './passwords.ts';
import { Sessions } from './sessions.ts';
import { SingleSignOn } from './single-sign-on.ts';

type Needs = {
  store: BoundedStore;
  bearerKeys: BearerKeys;
  removeWebhook: DispossessDeps['removeWebhook'];
  mailer: Mailer;
  config: Config;
  now: () => number;
};

/** The services behind the endpoints of accounts, projects and activity. */
export type AccountServices = ReturnType<typeof createAccountServices>;

export function createAccountServices({ store, bearerKeys, removeWebhook, mailer, config, now }: Needs) {
  const { dashboardUrl, readAuth, metricsToken, registration, passwordLogin, oidc } = config;
  const mutex = new KeyedMutex(store);
  const accountStore = new AccountStore({ store, mutex, now });
  const projects = new Projects({ store, mutex, now });
  const members = new Members({ store, mutex, now });
  const sessions = new Sessions({ store, accounts: accountStore, now });
  const recordActivity = createRecordActivity(store, now);
  const tokens = new MailedTokens({ store, accounts: accountStore, mutex, now });
  const mailRequests = new MailRequests({ store: accountStore, tokens, mailer });
  const accounts = new Accounts({
    store: accountStore,
    passwords: new Passwords({
      runningMax: PASSWORDS_RUNNING_MAX,
      waitingMax: PASSWORDS_WAITING_MAX,
      waitMsMax: PASSWORD_WAIT_MS_MAX,
    }),
    tokens,
    sessions,
    limits: new LoginLimits(mutex),
    projects,
    // An invited person chooses a password, so password sign-in must be possible.
    invites: registration === 'closed' && passwordLogin,
    dispossess: createDispossess({ projects, members, bearerKeys, removeWebhook, recordActivity }),
    recordActivity,
  });
  const access = createAccess({
    findSession: (secret) => sessions.find(secret),
    roleOf: (projectId, accountId) => members.roleOf(projectId, accountId),
    bearerKeys,
    dashboardUrl,
    readAuth,
    metricsToken,
  });
  const recordReads = createRecordReads({ store, mutex, readAuth, now });
  return {
    access,
    accounts,
    sessions,
    mailRequests,
    accountStore,
    projects,
    members,
    recordActivity,
    recordReads,
    store,
    dashboardUrl,
    signIn: {
      registration,
      password: passwordLogin,
      sso: oidc !== undefined,
      mail: mailer.isSending ? ('sent' as const) : ('printed' as const),
    },
    singleSignOn: oidc && {
      provider: new OidcProvider(oidc, `${dashboardUrl}/v1/auth/oidc/callback`),
      people: new SingleSignOn({
        groups: oidc.groups,
        store,
        accounts: accountStore,
        mutex,
        sessions,
        members,
        // Without open registration, people are added to projects by others.
        ensureProject: async (account, address) =>
          registration === 'open' ? accounts.ensureProject(account, address) : undefined,
        recordActivity,
        now,
      }),
    },
  };
}
