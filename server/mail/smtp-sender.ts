import { createTransport } from 'nodemailer';
import { MAIL_ATTEMPT_MS_MAX, MAIL_CONNECT_MS_MAX, MAILS_SENDING_MAX } from '../limits.ts';
import { MailFault, type SendMail } from './send-mail.ts';

/** Whether a text is an address, or a name and an address in angle brackets (RFC 5322 section 3.4). */
export function isMailbox(text: string): boolean {
  const address = /^[^<>\p{Cc}]*<([^<>]*)>$/u.exec(text)?.[1] ?? text;
  return /^[^\s@<>,;\p{Cc}]+@[^\s@<>,;\p{Cc}]+$/u.test(address);
}

type SmtpOptions = { smtpUrl: string; apiKey: string; from: string };

/**
 * Sends over SMTP through a pool of connections. The URL gives the host, port, user and TLS mode; the API key is the password. smtps: uses
 * TLS from the start. smtp: uses STARTTLS if the server offers it, always with ?requireTLS=true.
 */
export function createSmtpSender({ smtpUrl, apiKey, from }: SmtpOptions): {
  send: SendMail;
  close: () => void;
} {
  const { url, user } = withoutCredentials(smtpUrl);
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: MAILS_SENDING_MAX,
    // The mail queue retries and counts.
    maxRequeues: 0,
    ...(user === '' ? {} : { auth: { user, pass: apiKey } }),
    connectionTimeout: MAIL_CONNECT_MS_MAX,
    greetingTimeout: MAIL_CONNECT_MS_MAX,
    dnsTimeout: MAIL_CONNECT_MS_MAX,
    socketTimeout: MAIL_ATTEMPT_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const send: SendMail = async ({ to, subject, text, html }) => {
    if (!isMailbox(from)) throw new MailFault('INVALID_FROM', { isPermanent: true });
    const signal = AbortSignal.timeout(MAIL_ATTEMPT_MS_MAX);
    const headers = { 'Auto-Submitted': 'auto-generated' };
    try {
      await transport.sendMail({ from, to, subject, text, html, headers, signal });
    } catch (error) {
      throw faultFrom(error);
    }
  };
  return { send, close: () => transport.close() };
}

function withoutCredentials(smtpUrl: string): { url: string; user: string } {
  const url = new URL(smtpUrl);
  const user = decodeURIComponent(url.username);
  url.username = '';
  url.password = '';
  return { url: url.href, user };
}

/** Copies only the codes: the provider's text may quote the message. */
function faultFrom(error: unknown): MailFault {
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const status = typeof responseCode === 'number' ? responseCode : undefined;
  // RFC 5321 section 4.2.1: the same message would be refused with 5yz again.
  const isPermanent = status !== undefined && status >= 500;
  return new MailFault(typeof code === 'string' ? code : 'EUNKNOWN', { responseCode: status, isPermanent });
}
