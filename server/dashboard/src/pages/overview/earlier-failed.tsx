import type { Name } from '../../api/call.ts';
import type { Loaded } from '../../api/use-answer.ts';
import { Notice } from '../../ui/notice.tsx';

/** Why nothing is compared with an earlier period. */
export function EarlierFailed({ answer }: { answer: Pick<Loaded<Name>, 'error' | 'reload'> | undefined }) {
  if (answer?.error === undefined) return null;
  return (
    <Notice error={answer.error} retry={answer.reload}>
      <b>The earlier period could not be loaded.</b>
    </Notice>
  );
}
