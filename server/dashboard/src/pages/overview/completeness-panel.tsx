import { call } from '../../api/call.ts';
import type { Summary } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Period } from '../../app/period.ts';
import { formatAgo, formatCount, formatTime } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { ErrorState, Loading } from '../../ui/states.tsx';

const ROWS = 8;
const REFRESH_MS = 60_000;

type Completeness = NonNullable<Summary['completeness']>;
type PanelProps = { projectId: string; period: Period; completeness: Completeness };

/** What arrived of what the senders emitted, and the newest gaps. */
export function CompletenessPanel({ projectId, period, completeness }: PanelProps) {
  const gaps = call('GET /v1/projects/{id}/audit/gaps', {
    params: { id: projectId },
    query: { ...period, limit: ROWS },
  });
  const { data, error, reload } = useAnswer(gaps, { refreshMs: REFRESH_MS });
  const nowMs = Date.now();
  return (
    <section class="panel" aria-label="Completeness">
      <h2>Completeness</h2>
      <p>{sentenceOf(completeness)}</p>
      {data === undefined && error === undefined && <Loading lines={3} />}
      {data === undefined && error !== undefined && <ErrorState error={error} retry={reload} />}
      <ol class="latest">
        {data?.items.map((gap) => (
          <li key={`${gap.emitter} ${gap.to_sequence}`} title={`Sender ${gap.emitter}`}>
            <time dateTime={gap.before} title={formatTime(gap.before)}>
              {formatAgo(gap.before, nowMs)}
            </time>{' '}
            <span class="latest-what">
              <b>
                {gap.stream === 'decisions' ? 'Decisions' : 'Token usage'} {formatCount(gap.from_sequence)} to{' '}
                {formatCount(gap.to_sequence)}
              </b>{' '}
              of <Inert text={gap.agent_name} />: {formatCount(gap.dropped)} dropped,{' '}
              {formatCount(gap.missing)} missing
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** `99.98 % received: 137 dropped by clients, 4 missing, 1 sender ended without closing`. */
export function sentenceOf({ percent, dropped, missing, unclosed }: Completeness): string {
  const parts = [
    dropped > 0 ? `${formatCount(dropped)} dropped by clients` : '',
    missing > 0 ? `${formatCount(missing)} missing` : '',
    unclosed > 0
      ? `${formatCount(unclosed)} ${unclosed === 1 ? 'sender' : 'senders'} ended without closing`
      : '',
  ].filter((part) => part !== '');
  const share = percent === null ? 'Nothing was emitted' : `${percent} % received`;
  return parts.length === 0 ? share : `${share}: ${parts.join(', ')}`;
}
