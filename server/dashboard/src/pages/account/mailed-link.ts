import { type Answer, call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';

type MailedLink = { isPrinted: boolean; place: string };

/** Where a mailed link is: without a mail provider, the service prints its mails. */
export function useMailedLink(): MailedLink & { isLoading: boolean } {
  const { data, isLoading } = useAnswer(call('GET /v1/auth/options'));
  return { isLoading, ...mailedLink(data) };
}

export function mailedLink(options: Answer<'GET /v1/auth/options'> | undefined): MailedLink {
  const isPrinted = options?.mail === 'printed';
  const place = isPrinted
    ? 'This service has no e-mail provider: the link is in its output (stderr). Ask whoever runs it.'
    : 'If nothing arrives, check your spam folder or try again.';
  return { isPrinted, place };
}
