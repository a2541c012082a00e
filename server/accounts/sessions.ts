import { SESSION_IDLE_MS_MAX, SESSION_MS_MAX, SESSION_TOUCH_MS_MIN } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, rfc3339FromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import type { Account, AccountStore } from './account-store.ts';
import { hashOfSecret, newSecret } from './secret.ts';

/** A session that counts now, and whose it is. */
export type Session = { session_hash: string; account: Account };

type SessionRow = {
  account_id: string;
  email_folded: string;
  session_epoch: string;
  created_at: string;
  seen_at: string;
  is_ended: number;
};
type SessionsOptions = { store: BoundedStore; accounts: AccountStore; now: () => number };

/** Above every time in milliseconds: the end of a session beats whatever a slower request writes after it. */
const LAST_VERSION = Number.MAX_SAFE_INTEGER;

/**
 * The sessions of the dashboard: 256 random bits in a cookie, stored hashed. Nothing is kept in memory, so the end of
 * a session counts at once in every process.
 */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Resolves with the cookie's value. */
  async open(account: Account): Promise<string> {
    const secret = newSecret();
    const nowMs = this.#options.now();
    const { id: account_id, email_folded, session_epoch } = account;
    const row = { account_id, email_folded, session_epoch, created_at: clickhouseTime(nowMs) };
    await this.#append(hashOfSecret(secret), row, { seenMs: nowMs });
    return secret;
  }

  /** Undefined for a session that never was, was ended, or is too old. */
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
    if (nowMs - seenMs >= SESSION_TOUCH_MS_MIN) await this.#append(session_hash, row, { seenMs: nowMs });
    return { session_hash, account };
  }

  async end({ session_hash, account }: Session): Promise<void> {
    const nowMs = this.#options.now();
    const { id: account_id, email_folded, session_epoch } = account;
    const row = { account_id, email_folded, session_epoch, created_at: clickhouseTime(nowMs) };
    await this.#append(session_hash, row, { seenMs: nowMs, isEnded: true });
  }

  async #append(
    session_hash: string,
    row: Pick<SessionRow, 'account_id' | 'email_folded' | 'session_epoch' | 'created_at'>,
    { seenMs, isEnded = false }: { seenMs: number; isEnded?: boolean },
  ): Promise<void> {
    const { account_id, email_folded, session_epoch, created_at } = row;
    const state = {
      seen_at: clickhouseTime(seenMs),
      is_ended: isEnded ? 1 : 0,
      version: isEnded ? LAST_VERSION : seenMs,
    };
    const values = { session_hash, account_id, email_folded, session_epoch, created_at, ...state };
    await this.#options.store.append({ table: 'sessions', values });
  }
}
