import type { Session } from '../access/access.ts';
import {
  SESSION_IDLE_MS_MAX,
  SESSION_MS_MAX,
  SESSION_TOUCH_MS_MIN,
  USER_AGENT_CHARS_MAX,
} from '../limits.ts';
import { sha256Hex } from '../sha256.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, msFromClickhouse, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import type { Account, AccountStore } from './account-store.ts';
import { newSecret } from './secret.ts';

type SessionRow = {
  account_id: string;
  email_folded: string;
  session_epoch: string;
  created_at: string;
  seen_at: string;
  is_ended: number;
  address: string;
  user_agent: string;
  version?: string;
};
type SessionItemRow = Omit<SessionRow, 'account_id' | 'email_folded' | 'session_epoch' | 'is_ended'> & {
  session_hash: string;
};
type NewSessionRow = Omit<SessionRow, 'seen_at'>;
type SessionsOptions = { store: BoundedStore; accounts: AccountStore; now: () => number };

/** Where a session was opened. */
export type SessionOrigin = { address: string; userAgent: string };

/** Greater than every time in milliseconds, so that a slower request cannot revive an ended session. */
const LAST_VERSION = Number.MAX_SAFE_INTEGER;

/**
 * The sessions of the dashboard: 256 random bits in a cookie, stored hashed. Nothing is cached here, so a session ends in every process at
 * once.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Resolves with the session secret for the cookie. */
  async open(account: Account, { address, userAgent }: SessionOrigin): Promise<string> {
    const secret = newSecret();
    const { id: account_id, email_folded, session_epoch } = account;
    const nowMs = this.#options.now();
    const row = {
      account_id,
      email_folded,
      session_epoch,
      created_at: clickhouseTime(nowMs),
      is_ended: 0,
      address,
      user_agent: userAgent.slice(0, USER_AGENT_CHARS_MAX),
    };
    await this.#append(sha256Hex(secret), row, nowMs);
    return secret;
  }

  /** Undefined for an unknown, ended or expired session. */
  async find(secret: string): Promise<Session | undefined> {
    const { accounts, now } = this.#options;
    const session_hash = sha256Hex(secret);
    const row = await this.#read(session_hash);
    if (row === undefined || row.is_ended === 1 || this.#isExpired(row)) return undefined;
    const account = await accounts.find(row.email_folded);
    if (account?.id !== row.account_id || account.session_epoch !== row.session_epoch) return undefined;
    if (now() - msFromClickhouse(row.seen_at) >= SESSION_TOUCH_MS_MIN) await this.#append(session_hash, row);
    return { session_hash, account };
  }

  async end({ session_hash }: Pick<Session, 'session_hash'>): Promise<void> {
    const row = await this.#read(session_hash);
    if (row !== undefined) await this.#append(session_hash, { ...row, is_ended: 1 });
  }

  /** Keeps a session when its account gets a new epoch, which ends the others. */
  async carryOver(session_hash: string, session_epoch: string): Promise<void> {
    const row = await this.#read(session_hash);
    if (row?.is_ended === 0) await this.#append(session_hash, { ...row, session_epoch });
  }

  /** The sessions of the caller's account, the last used first, as their owner sees them. */
  async list({ session_hash: own, account }: Session) {
    return (await this.#rowsOf(account)).map(({ session_hash, ...row }) => ({
      id: idOf(session_hash),
      created_at: rfc3339FromClickhouse(row.created_at),
      last_seen_at: rfc3339FromClickhouse(row.seen_at),
      address: row.address,
      user_agent: row.user_agent,
      is_current: session_hash === own,
    }));
  }

  /** Ends one session of the caller's account. False when there is none with this id. */
  async endOne({ account }: Session, id: string): Promise<boolean> {
    const row = (await this.#rowsOf(account)).find(({ session_hash }) => idOf(session_hash) === id);
    if (row !== undefined) await this.end(row);
    return row !== undefined;
  }

  /** Ends all sessions of the caller's account but the caller's. */
  async endOthers({ session_hash: own, account }: Session): Promise<void> {
    const others = (await this.#rowsOf(account)).filter(({ session_hash }) => session_hash !== own);
    for (const other of others) await this.end(other);
  }

  async #read(session_hash: string): Promise<SessionRow | undefined> {
    return (await this.#options.store.query<SessionRow>(sql('session'), { session_hash }))[0];
  }

  async #rowsOf({ id, session_epoch }: Session['account']): Promise<SessionItemRow[]> {
    const params = { account_id: id, session_epoch };
    const rows = await this.#options.store.query<SessionItemRow>(sql('sessions_of_account'), params);
    return rows.filter((row) => !this.#isExpired(row));
  }

  #isExpired({ created_at, seen_at }: Pick<SessionRow, 'created_at' | 'seen_at'>): boolean {
    const nowMs = this.#options.now();
    return (
      nowMs - msFromClickhouse(created_at) >= SESSION_MS_MAX ||
      nowMs - msFromClickhouse(seen_at) >= SESSION_IDLE_MS_MAX
    );
  }

  async #append(session_hash: string, row: NewSessionRow, seenMs = this.#options.now()): Promise<void> {
    // A later row has a higher version even if another process's clock is ahead.
    const version = row.is_ended === 1 ? LAST_VERSION : Math.max(seenMs, Number(row.version ?? 0) + 1);
    const values = { ...row, session_hash, seen_at: clickhouseTime(seenMs), version };
    await this.#options.store.append({ table: 'sessions', values });
  }
}

/** Not the hash itself, which must not be revealed. */
function idOf(session_hash: string): string {
  return sha256Hex(`session:${session_hash}`).slice(0, 32);
}
