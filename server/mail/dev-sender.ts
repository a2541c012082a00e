import type { SendMail } from './send-mail.ts';

/** Prints the whole message, with its link, instead of sending it (SPECIFICATION 6.4.1). */
export function createDevSender(print: (text: string) => void): SendMail {
  return ({ to, subject, text }) => {
    print(
      `\n----- mail (not sent: no mail provider is set up) -----\nTo: ${to}\nSubject: ${subject}\n\n${text}-----\n`,
    );
    return Promise.resolve();
  };
}
