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
type Attempt = (isRight: () => Promise<boolean>) => Promise<boolean>;

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
   * Runs the logins of one account one at a time. `work` must compare the password within `attempt`, which throws rate_limited when no
   * attempts are left.
   */
  inTurn<T>(caller: Caller, work: (attempt: Attempt) => Promise<T>): Promise<T> {
    return this.#mutex.run(`login:${accountKey(caller.email)}`, async () => {
      await this.#perAccount.require(accountKey(caller.email));
      await this.#perAddress.require(caller.address);
      return work((isRight) => this.#attempt(caller, isRight));
    });
  }

  /** The order of waiting callers: first addresses whose last login succeeded, then new ones, then those whose last login failed. */
  async priorityOf(address: string): Promise<number> {
    if (this.#signedIn.has(address)) return 1;
    return (await this.#perAddress.isUnused(address)) ? 0 : -1;
  }

  async succeeded({ email, address }: Caller): Promise<void> {
    await this.#perAccount.reset(accountKey(email));
    this.#signedIn.set(address, true);
  }

  /** Counts the attempt before the comparison, so that parallel attempts at several workers get no more guesses than sequential ones. */
  async #attempt({ email, address }: Caller, isRight: () => Promise<boolean>): Promise<boolean> {
    await this.#perAccount.consume(accountKey(email));
    await this.#perAddress.consume(address);
    if (await isRight()) {
      await this.#perAddress.refund(address);
      await this.succeeded({ email, address });
      return true;
    }
    this.#signedIn.delete(address);
    return false;
  }
}

/** Hashed, so that keys have a fixed size whatever was sent as an e-mail. */
export function accountKey(email: string): string {
  return sha256Hex(foldedEmail(email));
}
