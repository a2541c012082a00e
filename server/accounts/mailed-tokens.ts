import { randomUUID } from 'node:crypto';
import { RequestError } from '../errors.ts';
import { INVITE_TOKEN_MS_MAX, RESET_TOKEN_MS_MAX, VERIFY_TOKEN_MS_MAX } from '../limits.ts';
import type { TokenMailKind } from '../mail/messages.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { sha256Hex } from '../sha256.ts';
import { claim } from '../store/claim.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime, msFromClickhouse } from '../store/time.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import type { Account, AccountStore } from './account-store.ts';
import { newSecret } from './secret.ts';

type TokenRow = {
  kind: TokenMailKind;
  account_id: string;
  email_folded: string;
  session_epoch: string;
  expires_at: string;
};
type MailedTokensOptions = {
  store: BoundedStore;
  accounts: AccountStore;
  mutex: KeyedMutex;
  now: () => number;
};

const AGE_MS_MAX: Record<TokenMailKind, number> = {
  verify: VERIFY_TOKEN_MS_MAX,
  reset: RESET_TOKEN_MS_MAX,
  invite: INVITE_TOKEN_MS_MAX,
};

/** The one-time tokens in mailed links: 256 random bits, stored hashed. */
export class MailedTokens {
  readonly #options: MailedTokensOptions;

  constructor(options: MailedTokensOptions) {
    this.#options = options;
  }

  async issue(kind: TokenMailKind, account: Account): Promise<string> {
    const token = newSecret();
    const nowMs = this.#options.now();
    const values = {
      token_hash: sha256Hex(token),
      // An invitation sets the first password.
      kind: kind === 'invite' ? 'reset' : kind,
      account_id: account.id,
      email_folded: account.email_folded,
      session_epoch: account.reset_epoch,
      created_at: clickhouseTime(nowMs),
      expires_at: clickhouseTime(nowMs + AGE_MS_MAX[kind]),
    };
    await this.#options.store.append({ table: 'mailed_tokens', values });
    return token;
  }

  /** The account of a reset token. Setting the new password uses the token up. */
  findReset(token: string): Promise<Account> {
    return this.#accountOf('reset', sha256Hex(token));
  }

  /**
   * Runs `work`, then uses the token up, so that a failed call can be retried. Of concurrent callers, one gets the account; the others are
   * rejected with token_invalid.
   */
  async useVerify(token: string, work: (account: Account) => Promise<void>): Promise<Account> {
    const { store, mutex, now } = this.#options;
    const token_hash = sha256Hex(token);
    const account = await this.#accountOf('verify', token_hash);
    const use_id = randomUUID();
    const first = await claim(mutex, `token:${token_hash}`, {
      find: async () =>
        (await store.query<{ use_id: string }>(sql('mailed_token_use'), { token_hash }))[0]?.use_id,
      write: async (claimToken) => {
        await work(account);
        const values = { token_hash, used_at: clickhouseTime(now()), use_id };
        await store.append({ table: 'mailed_token_uses', values, token: claimToken });
      },
    });
    if (first !== use_id) throw tokenInvalid();
    return account;
  }

  async #accountOf(kind: TokenMailKind, token_hash: string): Promise<Account> {
    const { store, accounts, now } = this.#options;
    const [row] = await store.query<TokenRow>(sql('mailed_token'), { token_hash });
    if (row === undefined || row.kind !== kind || row.account_id === '') throw tokenInvalid();
    if (msFromClickhouse(row.expires_at) <= now()) throw tokenInvalid();
    const account = await accounts.find(row.email_folded);
    if (account === undefined || account.id !== row.account_id) throw tokenInvalid();
    // A reset invalidates all reset tokens mailed before it.
    if (kind === 'reset' && account.reset_epoch !== row.session_epoch) throw tokenInvalid();
    return account;
  }
}

/** The same answer for every cause, so that it does not reveal which tokens exist. */
function tokenInvalid(): RequestError {
  return new RequestError('token_invalid', 'The token is unknown, used or expired. Request a new one.');
}
