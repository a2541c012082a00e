import type { SendMail } from './send-mail.ts';

/** Prints the whole message, including its link, instead of sending it. */
export function createDevSender(print: (text: string) => void): SendMail {
  return ({ to, subject, text }) => {
    print(
      `\n----- mail (not sent: no mail provider is configured) -----\nTo: ${to}\nSubject: ${subject}\n\n${text}-----\n`,
    );
    return Promise.resolve();
  };
}
