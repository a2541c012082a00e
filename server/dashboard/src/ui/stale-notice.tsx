import { serviceTime } from '../api/service-clock.ts';
import { useStaleAnswers } from '../api/stale-answers.ts';
import { formatTime, zoneName } from '../text/format.ts';
import { Notice } from './notice.tsx';

/** Says that the page shows older data, because loading it again fails. */
export function StaleNotice() {
  const answers = useStaleAnswers();
  const [first] = answers;
  if (first === undefined) return null;
  const oldestMs = Math.min(...answers.map(({ atMs }) => atMs));
  return (
    <Notice error={first.error} retry={() => answers.forEach(({ reload }) => reload())}>
      <b>Out of date.</b> Data as of {formatTime(new Date(serviceTime(oldestMs)).toISOString())} {zoneName()}.
    </Notice>
  );
}
