import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import { MAIL_DRAIN_MS_MAX, MAIL_RETRY_MS, MAILS_SENDING_MAX, MAILS_WAITING_MAX } from '../limits.ts';
import type { MailKind, Message } from './messages.ts';
import { MailFault, type SendMail } from './send-mail.ts';

/** What became of a mail, or of one attempt; the label of gate_mail_total. `failed` and `dropped` are final. */
export const MAIL_RESULTS = ['sent', 'retried', 'failed', 'dropped'] as const;
export const MAIL_KINDS: readonly MailKind[] = ['verify', 'reset'];

type MailQueueOptions = { send: SendMail; counter: Counter<'kind' | 'result'>; logger: Logger };

/** Sends mails beside the requests that ask for them: bounded, a few at once, tried again a little, counted. */
export class MailQueue {
  readonly #options: MailQueueOptions;
  readonly #jobs = new Map<Promise<void>, Message>();
  readonly #waiting: (() => void)[] = [];
  readonly #stopped = new AbortController();
  #sending = 0;

  constructor(options: MailQueueOptions) {
    this.#options = options;
    // A counter that is there from the start can be watched for a rise.
    for (const kind of MAIL_KINDS)
      for (const result of MAIL_RESULTS) options.counter.inc({ kind, result }, 0);
  }

  /** Takes the mail and returns at once. Never throws: a mail can be asked for again. */
  post(message: Message): void {
    if (this.#jobs.size >= MAILS_WAITING_MAX) return this.#end(message, 'dropped', 'too many mails wait');
    const job = this.#deliver(message).finally(() => this.#jobs.delete(job));
    this.#jobs.set(job, message);
  }

  /** Waits a little for the mails under way; the rest is dropped, and said so. */
  async close(): Promise<void> {
    const late = sleep(MAIL_DRAIN_MS_MAX, undefined, { ref: false });
    await Promise.race([this.#drain(), late]);
    this.#stopped.abort();
    await Promise.race([this.#drain(), sleep(0)]);
    for (const message of this.#jobs.values())
      this.#end(message, 'dropped', 'the service is stopping, and the provider has not answered');
  }

  async #drain(): Promise<void> {
    while (this.#jobs.size > 0) await Promise.all(this.#jobs.keys());
  }

  async #deliver(message: Message): Promise<void> {
    // Whoever asked is answered first: the answer must not take longer because there is a mail to make.
    await nextTurn();
    for (const waitMs of [...MAIL_RETRY_MS, undefined]) {
      const fault = await this.#attempt(message);
      if (fault === undefined) return;
      if (waitMs === undefined || fault.isPermanent) return this.#end(message, 'failed', fault.message);
      this.#end(message, 'retried', fault.message);
      const isStopped = await sleep(waitMs, false, { signal: this.#stopped.signal, ref: false }).catch(
        () => true,
      );
      if (isStopped) return this.#end(message, 'dropped', 'the service is stopping');
    }
  }

  async #attempt(message: Message): Promise<MailFault | undefined> {
    if (this.#sending >= MAILS_SENDING_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#sending += 1;
    try {
      await this.#options.send(message);
      this.#options.counter.inc({ kind: message.kind, result: 'sent' });
      return undefined;
    } catch (error) {
      return error instanceof MailFault
        ? error
        : new MailFault('EUNKNOWN', { responseCode: undefined, isPermanent: false });
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#sending -= 1;
      else next();
    }
  }

  /** Neither the address nor the link is logged. */
  #end({ kind }: Message, result: (typeof MAIL_RESULTS)[number], reason: string): void {
    this.#options.counter.inc({ kind, result });
    this.#options.logger.error({ kind, result, reason }, 'A mail was not sent');
  }
}
