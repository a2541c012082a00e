import { escapeHtml } from '../html.ts';

/** Mails with a one-time link. */
export type TokenMailKind = 'verify' | 'reset' | 'invite';
export type MailKind = TokenMailKind | 'alert';

/** A mail that any sender can send. */
export type Message = { kind: MailKind; to: string; subject: string; text: string; html: string };

type Letterhead = { serviceName: string; dashboardUrl: string };

type Words = { subject: string; why: string; action: string; validity: string; otherwise: string };

/** `isClaimed`: whether the address of the account was ever verified. */
export type TokenMail = { kind: TokenMailKind; to: string; token: string; isClaimed: boolean };

/** Builds the mail with the one-time link. */
export function messageFrom(
  { kind, to, token, isClaimed }: TokenMail,
  { serviceName, dashboardUrl }: Letterhead,
): Message {
  const { path, ...words } = wordsOf(kind, { serviceName, isClaimed });
  return messageOf(kind, { to, link: `${dashboardUrl}/${path}/${token}`, words });
}

export type AlertMail = { to: string; project: string; sentences: string[]; link: string };

/** Builds the mail about an alert, or about all that fired together. */
export function alertMessageFrom({ to, project, sentences, link }: AlertMail, serviceName: string): Message {
  const [first = '', ...others] = sentences;
  const words = {
    subject: `${serviceName}: ${others.length === 0 ? first : `${sentences.length} alerts of ${project}`}`,
    why: `${sentences.map((sentence) => `${sentence}.`).join('\n')}\nProject: ${project}.`,
    action: others.length === 0 ? 'View the decisions' : 'View the alerts',
    validity: 'Alerts are switched on and off, and muted, on the page Alerts of the project.',
    otherwise: 'You get this e-mail because you are an admin or owner of the project.',
  };
  return messageOf('alert', { to, link, words });
}

function messageOf(kind: MailKind, { to, link, words }: { to: string; link: string; words: Words }): Message {
  return { kind, to, subject: words.subject, text: textFrom(words, link), html: htmlFrom(words, link) };
}

function wordsOf(
  kind: TokenMailKind,
  { serviceName, isClaimed }: { serviceName: string; isClaimed: boolean },
): Words & { path: string } {
  if (kind === 'verify') {
    return {
      subject: `Verify your ${serviceName} account`,
      path: 'verify-email',
      why: isClaimed
        ? `Someone asked to verify the address of your ${serviceName} account. If it was you, open this link:`
        : `Someone registered with ${serviceName} using this address. To confirm that it is yours, open this link:`,
      action: 'Verify this address',
      validity: 'The link works once, within 24 hours.',
      otherwise: isClaimed
        ? 'If this was not you, ignore this e-mail.'
        : 'If you did not register, do not open it: whoever registered would then hold an account with your address.',
    };
  }
  if (kind === 'invite') {
    return {
      subject: `You are invited to ${serviceName}`,
      path: 'reset-password',
      why: `Someone added you to a project in ${serviceName}. To sign in, choose a password here:`,
      action: 'Choose a password',
      validity: 'The link works once, within seven days.',
      otherwise: 'If you do not expect this, ignore this e-mail.',
    };
  }
  return {
    subject: `Reset your ${serviceName} password`,
    path: 'reset-password',
    why: `Someone requested a new password for your ${serviceName} account. To choose one, open this link:`,
    action: 'Choose a new password',
    validity: `The link works once, within one hour. A new password signs you out on all devices.${isClaimed ? '' : LOSSES}`,
    otherwise: 'If this was not you, ignore this e-mail: your password has not changed.',
  };
}

/** What an account loses at its first reset if its address was never verified. */
const LOSSES =
  ' Because nobody has verified this address yet, it also revokes the keys of the projects of this account, and removes their webhooks and their other members.';

/** The link has its own line, so that no mail program treats punctuation as part of it. */
function textFrom({ why, validity, otherwise }: Words, link: string): string {
  return `${why}\n\n${link}\n\n${validity}\n${otherwise}\n`;
}

function htmlFrom({ subject, why, action, validity, otherwise }: Words, link: string): string {
  const href = escapeHtml(link);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="font-family: system-ui, sans-serif; line-height: 1.5; max-width: 36rem">
<p style="white-space: pre-line">${escapeHtml(why)}</p>
<p><a href="${href}">${action}</a></p>
<p>Or copy this address into your browser:<br>${href}</p>
<p>${validity}<br>${otherwise}</p>
</body>
</html>
`;
}
