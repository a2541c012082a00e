import type { RecordActivity } from '../activity/activity.ts';
import { actorFrom, NO_ACTOR } from '../access/access.ts';
import type { OidcConfig } from '../config.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { memberEntry, type Members, type RoleChange } from '../members/members.ts';
import { hasRole, type Role } from '../rights.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { Account, AccountStore } from './account-store.ts';
import type { Person } from './oidc-provider.ts';
import type { SessionOrigin, Sessions } from './sessions.ts';

type SingleSignOnDeps = {
  groups: OidcConfig['groups'];
  store: BoundedStore;
  accounts: AccountStore;
  mutex: KeyedMutex;
  sessions: Sessions;
  members: Members;
  ensureProject: (account: Account, address: string) => Promise<void>;
  recordActivity: RecordActivity;
  now: () => number;
};
type Identity = { email_folded: string };

/** Turns people of an OpenID Connect provider into accounts, memberships and sessions. */
export class SingleSignOn {
  readonly #deps: SingleSignOnDeps;

  constructor(deps: SingleSignOnDeps) {
    this.#deps = deps;
  }

  /** Resolves with the session secret for the cookie. */
  async signIn(person: Person, origin: SessionOrigin): Promise<string> {
    const { sessions, members, groups, ensureProject, recordActivity } = this.#deps;
    const { address } = origin;
    const account = await this.#accountOf(person, address);
    const detail = { by: 'single sign-on' };
    const recordChange = async (project_id: string, change: RoleChange) => {
      const entry = memberEntry({ account_id: account.id, email: account.email }, change);
      if (entry === undefined) return;
      // The provider is the actor, not the person.
      const by = { actor: NO_ACTOR, address, detail: { ...entry.detail, ...detail } };
      await recordActivity({ event: entry.event, project_id, ...by });
    };
    await members.setByGroups(account.id, rolesFrom(person.groups, groups), recordChange);
    await ensureProject(account, address);
    const secret = await sessions.open(account, origin);
    await recordActivity({ event: 'login', actor: actorFrom(account), address, detail });
    return secret;
  }

  /** The account of the identity, else one whose e-mail is verified on both sides, else a new one. */
  async #accountOf(person: Person, address: string): Promise<Account> {
    const { accounts, mutex, store, now } = this.#deps;
    const { issuer, subject } = person;
    const { email_folded } = await claim(mutex, `identity:${issuer} ${subject}`, {
      find: async () => (await store.query<Identity>(sql('account_identity'), { issuer, subject }))[0],
      write: async (token) => {
        const account = await this.#linkOrRegister(person, address);
        const values = { issuer, subject, account_id: account.id, email_folded: account.email_folded };
        const created_at = clickhouseTime(now());
        await store.append({ table: 'account_identities', values: { ...values, created_at }, token });
      },
    });
    const account = await accounts.find(email_folded);
    if (account === undefined) throw new Error('An identity of single sign-on has no account');
    return account;
  }

  /** A new account has no e-mail if the provider has not verified it, or if another account has it. */
  async #linkOrRegister({ email }: Person, address: string): Promise<Account> {
    const { accounts, recordActivity } = this.#deps;
    const noPassword = () => Promise.resolve('');
    const own =
      email === undefined ? undefined : await accounts.register(email, noPassword, { isVerified: true });
    // Looked up last: another service may have just registered this person.
    const holder = email === undefined || own !== undefined ? undefined : await accounts.find(email);
    if (holder?.is_verified === true) return holder;
    const account = own ?? (await accounts.registerWithoutEmail());
    const detail = { by: 'single sign-on' };
    await recordActivity({ event: 'account_registered', actor: actorFrom(account), address, detail });
    return account;
  }
}

/** The role that the groups give in each project; the highest if there are several. */
function rolesFrom(own: string[], groups: OidcConfig['groups']): Map<string, Role> {
  const roles = new Map<string, Role>();
  for (const group of own) {
    if (!Object.hasOwn(groups, group)) continue;
    for (const { project_id, role } of groups[group] ?? []) {
      const held = roles.get(project_id);
      if (held === undefined || hasRole(role, held)) roles.set(project_id, role);
    }
  }
  return roles;
}
