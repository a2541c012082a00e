import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';

/** Where a mailed link is: without a mail provider, the service prints its mails. */
export function useMailedLink(): { isLoading: boolean; isPrinted: boolean; place: string } {
  const { data, isLoading } = useAnswer(call('GET /v1/auth/options'));
  const isPrinted = data?.mail === 'printed';
  const place = isPrinted
    ? 'This service has no e-mail provider: the link is in its output (stderr). Ask whoever runs it.'
    : 'If nothing arrives, check your spam folder or try again.';
  return { isLoading, isPrinted, place };
}
