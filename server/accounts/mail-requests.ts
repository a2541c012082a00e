import { BoundedQueue } from '../bounded-queue.ts';
import { RequestError } from '../errors.ts';
import { problemFrom } from '../http/error-handler.ts';
import { RateLimit } from '../http/rate-limit.ts';
import {
  MAIL_DRAIN_MS_MAX,
  MAIL_REQUEST_WAIT_MS_MAX,
  MAIL_REQUESTS_WAITING_MAX,
  MAILS_PER_ADDRESS_MAX,
  MAILS_PER_RECIPIENT_MAX,
} from '../limits.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { TokenMailKind } from '../mail/messages.ts';
import { withTimeout } from '../store/with-timeout.ts';
import type { AccountStore } from './account-store.ts';
import { accountKey } from './login-limits.ts';
import type { MailedTokens } from './mailed-tokens.ts';

type MailRequest = { kind: TokenMailKind; email: string; address: string };
type MailRequestsDeps = { store: AccountStore; tokens: MailedTokens; mailer: Mailer };

/**
 * Sends requested mails after the answer, one at a time and bounded. So the answer does not reveal which accounts exist, and strangers cost
 * the store little.
 */
export class MailRequests {
  readonly #deps: MailRequestsDeps;
  readonly #perAddress = new RateLimit('mails_per_address', MAILS_PER_ADDRESS_MAX);
  /** Mails of all kinds except alerts: strangers must not use up the mail allowance for a person's alerts. */
  readonly #perRecipient = new RateLimit('mails_per_recipient', MAILS_PER_RECIPIENT_MAX);
  readonly #work = new BoundedQueue({
    runningMax: 1,
    waitingMax: MAIL_REQUESTS_WAITING_MAX,
    waitMsMax: MAIL_REQUEST_WAIT_MS_MAX,
    yields: true,
  });
  /** How many requests of an address wait or run. */
  readonly #pending = new Map<string, number>();

  constructor(deps: MailRequestsDeps) {
    this.#deps = deps;
  }

  /** Returns at once. A request that is over a limit, or fails, is dropped; failures are logged and counted. */
  post(request: MailRequest): void {
    void this.#do(request).catch((error: unknown) =>
      this.#deps.mailer.drop(request.kind, problemFrom(error).code),
    );
  }

  /** Waits briefly for requests that were already answered, then drops and logs the others. */
  async close(): Promise<void> {
    await withTimeout(this.#work.idle(), MAIL_DRAIN_MS_MAX).catch(() => undefined);
    this.#work.rejectWaiting(new RequestError('store_unavailable', 'The service is stopping'));
  }

  async #do({ kind, email, address }: MailRequest): Promise<void> {
    if (!(await this.#perAddress.tryConsume(address))) return;
    if (!(await this.#perRecipient.tryConsume(accountKey(email)))) return;
    const pending = this.#pending.get(address) ?? 0;
    this.#pending.set(address, pending + 1);
    const work = async () => {
      const { store, tokens, mailer } = this.#deps;
      const account = await store.find(email);
      if (account === undefined || account.email === '') return;
      const token = await tokens.issue(kind, account);
      mailer.post({ kind, to: account.email, token, isClaimed: account.is_claimed });
    };
    // A caller with many requests must not delay the first request of another caller.
    await this.#work.run(work, { priority: pending === 0 ? 1 : 0 }).finally(() => this.#end(address));
  }

  #end(address: string): void {
    const pending = (this.#pending.get(address) ?? 0) - 1;
    if (pending > 0) this.#pending.set(address, pending);
    else this.#pending.delete(address);
  }
}
