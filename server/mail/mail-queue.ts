import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import { MAIL_DRAIN_MS_MAX, MAIL_RETRY_MS, MAILS_SENDING_MAX, MAILS_WAITING_MAX } from '../limits.ts';
import type { MailKind, Message } from './messages.ts';
import { MailFault, type SendMail } from './send-mail.ts';

/** The result label of gate_mail_total. `retried` counts attempts; the others are final. */
export const MAIL_RESULTS = ['sent', 'retried', 'failed', 'dropped'] as const;
const MAIL_KINDS: readonly MailKind[] = ['verify', 'reset', 'invite', 'alert'];

type MailQueueOptions = { send: SendMail; counter: Counter<'kind' | 'result'>; logger: Logger };

/** Sends mails in the background, a few at a time, with a few retries. Bounded and counted. */
export class MailQueue {
  readonly #options: MailQueueOptions;
  readonly #jobs = new Map<Promise<boolean>, Message>();
  readonly #attempts = new PQueue({ concurrency: MAILS_SENDING_MAX });
  readonly #stopped = new AbortController();

  constructor(options: MailQueueOptions) {
    this.#options = options;
    // Prometheus sees the first increase only of a counter that exists before it.
    for (const kind of MAIL_KINDS)
      for (const result of MAIL_RESULTS) options.counter.inc({ kind, result }, 0);
  }

  /** Queues the mail. Resolves with whether the provider accepted it, and never rejects. */
  post(message: Message): Promise<boolean> {
    if (this.#jobs.size >= MAILS_WAITING_MAX) {
      this.drop(message.kind, 'too many mails are waiting');
      return Promise.resolve(false);
    }
    const job = this.#deliver(message).finally(() => this.#jobs.delete(job));
    this.#jobs.set(job, message);
    return job;
  }

  /** Counts and logs a mail that is not sent. */
  drop(kind: MailKind, reason: string): void {
    this.#countAndLog({ kind }, 'dropped', reason);
  }

  /** Waits briefly for queued mails, then drops and logs the others. */
  async close(): Promise<void> {
    const late = sleep(MAIL_DRAIN_MS_MAX, undefined, { ref: false });
    await Promise.race([this.#drain(), late]);
    this.#stopped.abort();
    await Promise.race([this.#drain(), sleep(0)]);
    for (const message of this.#jobs.values())
      this.drop(message.kind, 'the service is stopping and the provider has not answered');
  }

  async #drain(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.all(this.#jobs.keys());
  }

  async #deliver(message: Message): Promise<boolean> {
    // The caller is answered first, so that the answer takes the same time whether or not a mail is sent.
    await nextTurn();
    for (const waitMs of [...MAIL_RETRY_MS, undefined]) {
      const fault = await this.#attempts.add(() => this.#attempt(message));
      if (fault === undefined) return true;
      const isFinal = waitMs === undefined || fault.isPermanent;
      this.#countAndLog(message, isFinal ? 'failed' : 'retried', fault.message);
      if (isFinal) return false;
      const pause = sleep(waitMs, false, { signal: this.#stopped.signal, ref: false });
      const isStopped = await pause.catch(() => true);
      if (isStopped) {
        this.drop(message.kind, 'the service is stopping');
        return false;
      }
    }
    return false;
  }

  async #attempt(message: Message): Promise<MailFault | undefined> {
    try {
      await this.#options.send(message);
      this.#options.counter.inc({ kind: message.kind, result: 'sent' });
      return undefined;
    } catch (error) {
      return error instanceof MailFault ? error : new MailFault('EUNKNOWN', { isPermanent: false });
    }
  }

  /** Logs neither the address nor the link. */
  #countAndLog({ kind }: Pick<Message, 'kind'>, result: (typeof MAIL_RESULTS)[number], reason: string): void {
    this.#options.counter.inc({ kind, result });
    this.#options.logger.error({ kind, result, reason }, 'A mail was not sent');
  }
}
