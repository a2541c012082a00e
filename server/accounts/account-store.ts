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
  password_hash: string;
  /** Changes with the password; a session or a reset token of another epoch counts no more. */
  session_epoch: string;
  created_at: string;
  version: number;
};

type AccountRow = {
  id: string;
  email_folded: string;
  email: string;
  is_verified: number;
  password: [string, string];
  created_at: string;
  newest_version: string;
};
type Change = 'registered' | 'verified' | 'password_set';
type AccountStoreOptions = { store: BoundedStore; mutex: KeyedMutex; now: () => number };

/** What is compared of an e-mail: two that differ in case only are one. */
export function foldedEmail(email: string): string {
  return email.toLowerCase();
}

/** The accounts of the store. Every change is a row of its own. */
export class AccountStore {
  readonly #options: AccountStoreOptions;

  constructor(options: AccountStoreOptions) {
    this.#options = options;
  }

  async find(email: string): Promise<Account | undefined> {
    const rows = await this.#options.store.query<AccountRow>(sql('account_by_email'), {
      email_folded: foldedEmail(email),
    });
    return rows[0] === undefined ? undefined : accountFrom(rows[0]);
  }

  /** The e-mails of some accounts by their ids. */
  async emailsOf(accountIds: string[]): Promise<Map<string, string>> {
    const rows = await this.#options.store.query<{ id: string; email: string }>(sql('account_emails'), {
      account_ids: accountIds,
    });
    return new Map(rows.map(({ id, email }) => [id, email]));
  }

  /** Undefined when the e-mail is taken. `hash` is called when it is this caller's turn and the e-mail is free. */
  async register(email: string, hash: () => Promise<string>): Promise<Account | undefined> {
    const nowMs = this.#options.now();
    const account = { id: randomUUID(), email, email_folded: foldedEmail(email), is_verified: false };
    const made = {
      ...account,
      session_epoch: randomUUID(),
      created_at: new Date(nowMs).toISOString(),
      version: nowMs,
    };
    const holder = await claim(this.#options.mutex, `email:${account.email_folded}`, {
      find: () => this.find(email),
      write: async (token) => this.#append({ ...made, password_hash: await hash() }, 'registered', token),
    });
    return holder.id === account.id ? holder : undefined;
  }

  async setVerified(account: Account): Promise<void> {
    await this.#append({ ...account, version: this.#versionAfter(account) }, 'verified');
  }

  /**
   * Ends all sessions of the account and all its reset tokens: the epoch is a new one. False when another did so since
   * the account was read. `hash` is called when it is this caller's turn and none did.
   */
  async setPassword(account: Account, hash: () => Promise<string>): Promise<boolean> {
    const changed = { ...account, session_epoch: randomUUID(), version: this.#versionAfter(account) };
    const holder = await claim(this.#options.mutex, `epoch:${account.session_epoch}`, {
      find: () => this.#findChanged(account),
      write: async (token) =>
        this.#append({ ...changed, password_hash: await hash() }, 'password_set', token),
    });
    return holder.session_epoch === changed.session_epoch;
  }

  /** Undefined while the password is the one that the account was read with. */
  async #findChanged({ email, session_epoch }: Account): Promise<Account | undefined> {
    const current = await this.find(email);
    return current?.session_epoch === session_epoch ? undefined : current;
  }

  /** Another process's clock may be ahead: what comes later must have the higher version all the same. */
  #versionAfter({ version }: Account): number {
    return Math.max(this.#options.now(), version + 1);
  }

  async #append(account: Account, change: Change, token?: string): Promise<void> {
    const { id, email, email_folded, password_hash, session_epoch, version } = account;
    const created_at = clickhouseTime(Date.parse(account.created_at));
    const values = {
      email_folded,
      account_id: id,
      version,
      change,
      created_at,
      email,
      password_hash,
      session_epoch,
    };
    await this.#options.store.append({
      table: 'accounts',
      values,
      ...(token === undefined ? {} : { token }),
    });
  }
}

function accountFrom({ password, newest_version, ...row }: AccountRow): Account {
  const [password_hash, session_epoch] = password;
  const created_at = rfc3339FromClickhouse(row.created_at);
  return {
    ...row,
    is_verified: row.is_verified === 1,
    password_hash,
    session_epoch,
    created_at,
    version: Number(newest_version),
  };
}
