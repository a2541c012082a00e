import { decisionPath } from '../../app/route.ts';
import { auditOf } from '../../api/call.ts';
import type { Outcome } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { narrowed } from '../../app/filters.ts';
import { formatAgo, formatTime } from '../../text/format.ts';
import { Inert, Role } from '../../ui/inert.tsx';
import { Waiting } from '../../ui/states.tsx';
import type { PanelsProps } from './top-panels.tsx';

const ROWS = 6;
const REFRESH_MS = 15_000;

type LatestPanelProps = PanelsProps & { outcome: Outcome; title: string };

/** The newest decisions with one outcome, linked to their details. */
export function LatestPanel({ projectId, period, filters, hrefOf, outcome, title }: LatestPanelProps) {
  const only = { outcome: [outcome] };
  const shown = hrefOf({ filters: only });
  const { search } = new URL(shown, location.href);
  const newest = auditOf(projectId, 'decisions', { ...period, ...narrowed(filters, only), limit: ROWS });
  const answer = useAnswer(newest, { refreshMs: REFRESH_MS });
  const { data } = answer;
  return (
    <section class="panel" aria-label={title}>
      <h2>
        {title} <a href={shown}>All</a>
      </h2>
      <Waiting answer={answer} lines={5} />
      {data?.items.length === 0 && <p class="muted">None in this period.</p>}
      <ol class="latest">
        {data?.items.map(({ event_id, occurred_at, agent_name, tool_name, role, reason }) => (
          <li key={event_id}>
            <a href={decisionPath(projectId, event_id) + search}>
              <time dateTime={occurred_at} title={formatTime(occurred_at)}>
                {formatAgo(occurred_at)}
              </time>
              <span class="latest-what">
                <b>
                  <Inert text={tool_name} />
                </b>{' '}
                by <Inert text={agent_name} /> as <Role role={role} />
                {reason !== '' && (
                  <span class="latest-why">
                    <Inert text={reason} />
                  </span>
                )}
              </span>
            </a>
          </li>
        ))}
      </ol>
    </section>
  );
}
