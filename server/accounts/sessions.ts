import type { Session } from '../access/access.ts';
import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX, SESSION_TOUCH_MS_MIN } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import type { Account, AccountStore } from './account-store.ts';
import { hashOfSecret, newSecret } from './secret.ts';

type SessionRow = {
  account_id: string;
  email_folded: string;
  session_epoch: string;
  created_at: string;
  seen_at: string;
  is_ended: number;
};
type NewSessionRow = Omit<SessionRow, 'seen_at'>;
type SessionsOptions = { store: BoundedStore; accounts: AccountStore; now: () => number };

/** Above every time in milliseconds, so that a slower request cannot revive an ended session. */
const LAST_VERSION = Number.MAX_SAFE_INTEGER;

/**
 * The sessions of the dashboard: 256 random bits in a cookie, stored hashed. Nothing is kept in memory, so a session
 * ends in every process at once.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Resolves with the session secret for the cookie. */
  async open(account: Account): Promise<string> {
    const secret = newSecret();
    await this.#append(hashOfSecret(secret), this.#rowOf(account));
    return secret;
  }

  /** Undefined for an unknown, ended or expired session. */
  async find(secret: string): Promise<Session | undefined> {
    const { store, accounts, now } = this.#options;
    const session_hash = hashOfSecret(secret);
    const [row] = await store.query<SessionRow>(sql('session'), { session_hash });
    if (row === undefined || row.is_ended === 1) return undefined;
    const nowMs = now();
    const createdMs = Date.parse(rfc3339FromClickhouse(row.created_at));
    const seenMs = Date.parse(rfc3339FromClickhouse(row.seen_at));
    if (nowMs - createdMs >= SESSION_MS_MAX || nowMs - seenMs >= SESSION_IDLE_MS_MAX) return undefined;
    const account = await accounts.find(row.email_folded);
    if (account?.id !== row.account_id || account.session_epoch !== row.session_epoch) return undefined;
    if (nowMs - seenMs >= SESSION_TOUCH_MS_MIN) await this.#append(session_hash, row);
    return { session_hash, account };
  }

  async end({ session_hash, account }: Session): Promise<void> {
    await this.#append(session_hash, { ...this.#rowOf(account), is_ended: 1 });
  }

  #rowOf({ id: account_id, email_folded, session_epoch }: Session['account']): NewSessionRow {
    const created_at = clickhouseTime(this.#options.now());
    return { account_id, email_folded, session_epoch, created_at, is_ended: 0 };
  }

  async #append(session_hash: string, row: NewSessionRow): Promise<void> {
    const seenMs = this.#options.now();
    const version = row.is_ended === 1 ? LAST_VERSION : seenMs;
    const values = { ...row, session_hash, seen_at: clickhouseTime(seenMs), version };
    await this.#options.store.append({ table: 'sessions', values });
  }
}
