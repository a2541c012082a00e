import { createServer, type Server, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { listen } from './listen.ts';

export const API_KEY = 'provider-api-key';
export const MAIL_FROM = 'Gatehouse <no-reply@gate.example.com>';

/** The variables that make a service send through the server at `url`. */
export function providerEnv(url: string, more: Record<string, string> = {}): Record<string, string> {
  return { MAILER_API_KEY: API_KEY, GATE_EMAIL_FROM: MAIL_FROM, MAILER_SMTP_URL: url, ...more };
}

export type ReceivedMail = {
  envelope: { from: string; to: string[] };
  /** The credentials of the sender. */
  user: string | undefined;
  subject: string;
  from: string;
  to: string;
  text: string;
  html: string;
};

export type MailServer = { url: string; mails: ReceivedMail[]; logins: string[]; close: () => Promise<void> };

type MailServerOptions = Partial<SMTPServerOptions> & { password?: string };

/** A real SMTP server that keeps what it receives. Its user is `sender`; the password is not in its URL. */
export async function startMailServer({
  password = API_KEY,
  ...options
}: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    logger: false,
    onAuth: (auth, _session, callback) => {
      logins.push(String(auth.username));
      if (auth.username === 'sender' && auth.password === password) callback(null, { user: auth.username });
      else callback(Object.assign(new Error('Authentication failed'), { responseCode: 535 }));
    },
    onData: (stream, session, callback) => {
      const { mailFrom, rcptTo } = session.envelope;
      const envelope = {
        from: mailFrom === false ? '' : mailFrom.address,
        to: rcptTo.map(({ address }) => address),
      };
      const user = session.user === undefined ? undefined : String(session.user);
      const keep = async () => {
        mails.push({ envelope, user, ...partsOf(await parse(stream)) });
        callback();
      };
      void keep();
    },
    ...options,
  });
  server.on('error', () => undefined);
  const port = await listen(server.server);
  const scheme = options.secure === true ? 'smtps' : 'smtp';
  return {
    url: `${scheme}://sender@127.0.0.1:${port}`,
    mails,
    logins,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function parse(stream: Readable): Promise<Email> {
  return PostalMime.parse(Buffer.concat(await stream.toArray()));
}

function partsOf({ subject = '', from, to, text = '', html = '' }: Email) {
  return {
    subject,
    from: from?.address ?? '',
    to: (to ?? []).map(({ address }) => address).join(', '),
    text,
    html,
  };
}

/** A server on an SMTP port that treats each connection as it is told. */
export async function startBrokenServer(
  behave: (socket: Socket) => void,
): Promise<{ url: string; close: () => void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    behave(socket);
  });
  const port = await listen(server);
  return {
    url: `smtp://sender@127.0.0.1:${port}`,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
