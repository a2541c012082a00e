import { randomUUID } from 'node:crypto';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';

export type Account = {
  id: string;
  email: string;
  email_folded: string;
  is_verified: boolean;
  /** The owner of the address has proved it with a mailed token. Until then the account may be a stranger's. */
  is_claimed: boolean;
  password_hash: string;
  /** Changes with the password. Sessions of an earlier epoch are invalid. */
  session_epoch: string;
  /**
   * The same for reset tokens. Until the account is claimed, it does not change, so that a stranger cannot keep the owner of the address
   * out by changing the password.
   */
  reset_epoch: string;
  created_at: string;
  version: number;
};

type AccountRow = {
  id: string;
  email_folded: string;
  email: string;
  is_verified: number;
  is_claimed: number;
  password: [string, string];
  reset_epoch: string;
  created_at: string;
  newest_version: string;
};
type PasswordChange = 'password_set' | 'password_changed';
type Change = 'registered' | 'verified' | PasswordChange;
type AccountStoreOptions = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** The form in which e-mails are compared, without regard to case. */
export function foldedEmail(email: string): string {
  return email.toLowerCase();
}

/** The accounts in the store. Each change adds a row. */
export class AccountStore {
  readonly #options: AccountStoreOptions;

  constructor(options: AccountStoreOptions) {
    this.#options = options;
  }

  async find(email: string): Promise<Account | undefined> {
    const params = { email_folded: foldedEmail(email) };
    const [row] = await this.#options.store.query<AccountRow>(sql('account_by_email'), params);
    return row && accountFrom(row);
  }

  /** The e-mails of accounts, by account id. */
  async emailsOf(accountIds: string[]): Promise<Map<string, string>> {
    const rows = await this.#options.store.query<{ id: string; email: string }>(sql('account_emails'), {
      account_ids: accountIds,
    });
    return new Map(rows.map(({ id, email }) => [id, email]));
  }

  /** Undefined when the e-mail is taken. `hash` is called only once the e-mail is known to be free. */
  async register(
    email: string,
    hash: () => Promise<string>,
    { isVerified = false } = {},
  ): Promise<Account | undefined> {
    const account = this.#newAccount(email);
    const changes = changesOf('registered', isVerified);
    const holder = await claim(this.#options.mutex, `email:${account.email_folded}`, {
      find: () => this.find(email),
      write: async (token) => this.#append({ ...account, password_hash: await hash() }, changes, token),
    });
    return holder.id === account.id ? holder : undefined;
  }

  /** An account that can only be entered by single sign-on. */
  async registerWithoutEmail(): Promise<Account> {
    const account = this.#newAccount('');
    // No e-mail address begins like this, and the key of an account must be unique.
    const made = { ...account, email_folded: `sso:${account.id}`, password_hash: '' };
    await this.#append(made, ['registered']);
    return made;
  }

  #newAccount(email: string): Omit<Account, 'password_hash'> {
    const nowMs = this.#options.now();
    const epoch = randomUUID();
    return {
      id: randomUUID(),
      email,
      email_folded: foldedEmail(email),
      is_verified: false,
      is_claimed: false,
      session_epoch: epoch,
      reset_epoch: epoch,
      created_at: new Date(nowMs).toISOString(),
      version: nowMs,
    };
  }

  async setVerified(account: Account): Promise<void> {
    await this.#append({ ...account, version: this.#versionAfter(account) }, ['verified']);
  }

  /**
   * Starts a new epoch, which ends all sessions and reset tokens of the account, and resolves with it. Undefined when
   * another caller did so after the account was read. `hash` is called only when none did.
   */
  async setPassword(
    account: Account,
    change: PasswordChange,
    hash: () => Promise<string>,
    { isVerified = false } = {},
  ): Promise<string | undefined> {
    const changes = changesOf(change, isVerified);
    const changed = { ...account, session_epoch: randomUUID(), version: this.#versionAfter(account) };
    const holder = await claim(this.#options.mutex, `epoch:${account.session_epoch}`, {
      find: () => this.#findChanged(account),
      write: async (token) => this.#append({ ...changed, password_hash: await hash() }, changes, token),
    });
    return holder.session_epoch === changed.session_epoch ? changed.session_epoch : undefined;
  }

  /** Undefined unless the password is unchanged since the account was read. */
  async #findChanged({ email, session_epoch }: Account): Promise<Account | undefined> {
    const current = await this.find(email);
    return current?.session_epoch === session_epoch ? undefined : current;
  }

  /** A later change must have a higher version even if another process's clock is ahead. */
  #versionAfter({ version }: Account): number {
    return Math.max(this.#options.now(), version + 1);
  }

  async #append(account: Account, changes: Change[], token = ''): Promise<void> {
    const { id: account_id, email, email_folded, password_hash, session_epoch, version } = account;
    const columns = { account_id, email, email_folded, password_hash, session_epoch, version };
    const created_at = clickhouseTime(Date.parse(account.created_at));
    const values = changes.map((change) => ({ ...columns, created_at, change }));
    await this.#options.store.append({ table: 'accounts', values, token });
  }
}

/** In one insert: a failure between two would leave the e-mail unverified. */
function changesOf(change: Change, isVerified: boolean): Change[] {
  return isVerified ? [change, 'verified'] : [change];
}

function accountFrom({ password, newest_version, ...row }: AccountRow): Account {
  const [password_hash, session_epoch] = password;
  return {
    ...row,
    is_verified: row.is_verified === 1,
    is_claimed: row.is_claimed === 1,
    password_hash,
    session_epoch,
    created_at: rfc3339FromClickhouse(row.created_at),
    version: Number(newest_version),
  };
}
