import { LRUCache } from 'lru-cache';
import { RateLimit } from '../http/rate-limit.ts';
import {
  LOGIN_FAILURES_PER_ACCOUNT_MAX,
  LOGIN_FAILURES_PER_ADDRESS_MAX,
  SIGNED_IN_ADDRESSES_MAX,
} from '../limits.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { sha256Hex } from '../sha256.ts';
import { foldedEmail } from './account-store.ts';

type Caller = { email: string; address: string };

/** Limits wrong passwords by account and by address, whether or not the account exists. */
export class LoginLimits {
  readonly #perAccount = new RateLimit('login_failures_per_account', LOGIN_FAILURES_PER_ACCOUNT_MAX);
  readonly #perAddress = new RateLimit('login_failures_per_address', LOGIN_FAILURES_PER_ADDRESS_MAX);
  /** Addresses whose last attempt succeeded. */
  readonly #signedIn = new LRUCache<string, true>({ max: SIGNED_IN_ADDRESSES_MAX });
  readonly #mutex: KeyedMutex;

  constructor(mutex: KeyedMutex) {
    this.#mutex = mutex;
  }

  /**
   * Runs the logins of one account one at a time, so that parallel logins get no more guesses than sequential ones.
   * `work` must call `requireAttempts`, which throws rate_limited, just before it compares the password.
   */
  inTurn<T>(caller: Caller, work: (requireAttempts: () => Promise<void>) => Promise<T>): Promise<T> {
    const requireAttempts = () => this.#require(caller);
    return this.#mutex.run(`login:${accountKey(caller.email)}`, async () => {
      await requireAttempts();
      return work(requireAttempts);
    });
  }

  /** The order of waiting callers: first addresses whose last login succeeded, then new ones, then those whose last login failed. */
  async priorityOf(address: string): Promise<number> {
    if (this.#signedIn.has(address)) return 1;
    return (await this.#perAddress.isUnused(address)) ? 0 : -1;
  }

  async failed({ email, address }: Caller): Promise<void> {
    await this.#perAccount.count(accountKey(email));
    await this.#perAddress.count(address);
    this.#signedIn.delete(address);
  }

  async succeeded({ email, address }: Caller): Promise<void> {
    await this.#perAccount.reset(accountKey(email));
    this.#signedIn.set(address, true);
  }

  async #require({ email, address }: Caller): Promise<void> {
    await this.#perAccount.require(accountKey(email));
    await this.#perAddress.require(address);
  }
}

/** Hashed, so that keys have a fixed size whatever was sent as an e-mail. */
export function accountKey(email: string): string {
  return sha256Hex(foldedEmail(email));
}
