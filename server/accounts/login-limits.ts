import { AttemptLimit } from '../http/rate-limit.ts';
import { LOGIN_FAILURES_PER_ACCOUNT_MAX, LOGIN_FAILURES_PER_ADDRESS_MAX } from '../limits.ts';
import type { KeyedMutex } from '../keyed-mutex.ts';
import { foldedEmail } from './account-store.ts';
import { hashOfSecret } from './secret.ts';

type Caller = { email: string; address: string };

/** How many wrong passwords an account and an address may have (CONTRACT 8), whether or not the account exists. */
export class LoginLimits {
  readonly #perAccount = new AttemptLimit(LOGIN_FAILURES_PER_ACCOUNT_MAX);
  readonly #perAddress = new AttemptLimit(LOGIN_FAILURES_PER_ADDRESS_MAX);
  readonly #mutex: KeyedMutex;

  constructor(mutex: KeyedMutex) {
    this.#mutex = mutex;
  }

  /**
   * Logins of one account go one after the other, so that a burst gets no more guesses than a row of them.
   * `work` gets a check that throws rate_limited, for the moment just before the password is compared.
   */
  inTurn<T>(caller: Caller, work: (check: () => Promise<void>) => Promise<T>): Promise<T> {
    const check = () => this.#check(caller);
    return this.#mutex.run(`login:${accountKey(caller.email)}`, async () => {
      await check();
      return work(check);
    });
  }

  async failed({ email, address }: Caller): Promise<void> {
    await this.#perAccount.count(accountKey(email));
    await this.#perAddress.count(address);
  }

  async succeeded(email: string): Promise<void> {
    await this.#perAccount.forget(accountKey(email));
  }

  async #check({ email, address }: Caller): Promise<void> {
    await this.#perAccount.check(accountKey(email));
    await this.#perAddress.check(address);
  }
}

/** Hashed, so that a key has the same size whatever was sent as an e-mail. */
export function accountKey(email: string): string {
  return hashOfSecret(foldedEmail(email));
}
