import type { Message } from './messages.ts';

/** Delivers one message, once. Rejects with a MailFault. */
export type SendMail = (message: Message) => Promise<void>;

/** Why a mail was not sent. Safe to log: contains neither the message nor the provider's key. */
export class MailFault extends Error {
  readonly isPermanent: boolean;
  readonly code: string;
  readonly responseCode: number | undefined;

  constructor(
    code: string,
    { responseCode, isPermanent }: { responseCode: number | undefined; isPermanent: boolean },
  ) {
    super(`The mail provider failed: ${code}${responseCode === undefined ? '' : ` ${responseCode}`}`);
    this.name = 'MailFault';
    this.code = code;
    this.responseCode = responseCode;
    this.isPermanent = isPermanent;
  }
}
