import type { Message } from './messages.ts';

/** Delivers one message, once. Rejects with a MailFault. */
export type SendMail = (message: Message) => Promise<void>;

/** Why a mail was not sent. Safe to log: contains neither the message nor the provider's key. */
export class MailFault extends Error {
  readonly isPermanent: boolean;

  constructor(
    code: string,
    { responseCode, isPermanent }: { responseCode?: number | undefined; isPermanent: boolean },
  ) {
    super(`The mail provider failed: ${code}${responseCode === undefined ? '' : ` ${responseCode}`}`);
    this.name = 'MailFault';
    this.isPermanent = isPermanent;
  }
}
