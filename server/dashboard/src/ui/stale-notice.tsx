import { explain, mayRecover } from '../api/api-error.ts';
import { useStaleAnswers } from '../api/stale-answers.ts';
import { formatTime, zoneName } from '../text/format.ts';
import { Icon } from './icon.tsx';

/** Says that the page shows what it loaded before, because loading it again fails. */
export function StaleNotice() {
  const answers = useStaleAnswers();
  const [first] = answers;
  if (first === undefined) return null;
  const { error } = first;
  const oldestMs = Math.min(...answers.map(({ atMs }) => atMs));
  return (
    <div class="stale-notice" role="alert">
      <Icon name="warn" />
      <p>
        <b>Out of date.</b> Data as of {formatTime(new Date(oldestMs).toISOString())} {zoneName()}.{' '}
        {explain(error).title}.{mayRecover(error) && ' Retrying automatically.'}
      </p>
      <button type="button" class="small" onClick={() => answers.forEach(({ reload }) => reload())}>
        <Icon name="refresh" /> Try again
      </button>
    </div>
  );
}
