import type { Logger } from 'pino';
import type { Counter } from 'prom-client';
import type { Config } from '../config.ts';
import { MailQueue } from './mail-queue.ts';
import { alertMessageFrom, type AlertMail, messageFrom, type MailKind, type TokenMail } from './messages.ts';
import type { SendMail } from './send-mail.ts';
import { createSmtpSender, isMailbox } from './smtp-sender.ts';

export type Mailer = {
  /** Whether there is a provider. Without one, mails are printed. */
  isSending: boolean;
  /** Queues a mail and returns at once. */
  post(mail: TokenMail): void;
  /** The same for alerts. Resolves with whether the provider accepted it. */
  postAlert(mail: AlertMail): Promise<boolean>;
  /** Counts and logs a mail that was accepted but will not be sent. */
  drop(kind: MailKind, reason: string): void;
  close(): Promise<void>;
};
type MailerDeps = { logger: Logger; counter: Counter<'kind' | 'result'> };

/** Sends through the provider if MAILER_API_KEY and GATE_EMAIL_FROM are both set, otherwise prints mails. */
export function createMailer(config: Config, { logger, counter }: MailerDeps): Mailer {
  const { emailFrom, mailerApiKey, mailerSmtpUrl, serviceName, dashboardUrl } = config;
  const letterhead = { serviceName, dashboardUrl };
  const provider =
    emailFrom === undefined || mailerApiKey === undefined
      ? undefined
      : createSmtpSender({ smtpUrl: mailerSmtpUrl, apiKey: mailerApiKey, from: emailFrom });
  if (provider === undefined && (emailFrom ?? mailerApiKey) !== undefined)
    logger.warn('Mails are printed, not sent: set both MAILER_API_KEY and GATE_EMAIL_FROM to send them.');
  if (provider !== undefined && emailFrom !== undefined && !isMailbox(emailFrom)) {
    logger.error(
      'No mail can be sent: GATE_EMAIL_FROM must be an address such as gate@example.com or Gatehouse <gate@example.com>',
    );
  }
  const send = provider?.send ?? printMail;
  const queue = new MailQueue({ send, counter, logger });
  return {
    isSending: provider !== undefined,
    post: (mail) => void queue.post(messageFrom(mail, letterhead)),
    postAlert: (mail) => queue.post(alertMessageFrom(mail, serviceName)),
    drop: (kind, reason) => queue.drop(kind, reason),
    close: async () => {
      await queue.close();
      provider?.close();
    },
  };
}

/** Prints the whole message, including its link, instead of sending it. */
const printMail: SendMail = async ({ to, subject, text }) =>
  void process.stderr.write(
    `\n----- mail (not sent: no mail provider is configured) -----\nTo: ${to}\nSubject: ${subject}\n\n${text}-----\n`,
  );
