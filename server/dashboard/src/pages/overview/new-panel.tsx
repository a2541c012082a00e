import { type Answer, auditOf } from '../../api/call.ts';
import { serviceTime } from '../../api/service-clock.ts';
import type { Timeseries } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import { endsNow, type Period } from '../../app/period.ts';
import { rangeOf } from '../../api/relative-period.ts';
import { formatCompact, formatCount, formatMinute } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { Waiting } from '../../ui/states.tsx';
import { WEEK_MS } from './change.ts';
import { hasOlder, newOf } from './new-values.ts';
import type { DecisionsHref } from './overview-page.tsx';
import { DAY_MS, HOUR_MS } from '../../../../durations.ts';
import { RETENTION_MS } from '../../../../limits.ts';

const REFRESH_MS = 60_000;
const VALUES_MAX = 1000;
const SHOWN_MAX = 12;
const NAMES = { tool: 'Tool', agent: 'Agent', reason: 'Reason' } as const;
type Kind = keyof typeof NAMES;
type Item = Answer<'GET /v1/projects/{id}/audit/breakdown'>['items'][number];
type Found = Item & { kind: Kind };

type NewPanelProps = {
  projectId: string;
  period: Period;
  /** The series of the period, as it is shown. */
  series: Timeseries;
  filters: Filters;
  hrefOf: DecisionsHref;
};

/** Tools, agents and reasons of this period that were not seen in the time before it. */
export function NewPanel({ projectId, period, series, filters, hrefOf }: NewPanelProps) {
  const [fromMs, toMs] = [Date.parse(series.from), Date.parse(series.to)];
  const beforeMs = Math.max(WEEK_MS, toMs - fromMs);
  const isKept = fromMs - beforeMs > serviceTime() - RETENTION_MS;
  // Rounded to the hour if time passes, so that the call stays the same for a while.
  const endMs = endsNow(period) ? Math.ceil(toMs / HOUR_MS) * HOUR_MS : toMs;
  const ask = (by: Kind, sinceMs: number) => {
    const range = rangeOf(Math.ceil(sinceMs / HOUR_MS) * HOUR_MS, endMs);
    return isKept
      ? auditOf(projectId, 'breakdown', { by, limit: VALUES_MAX, ...range, ...filters })
      : undefined;
  };
  const refresh = { refreshMs: REFRESH_MS };
  const asked = {
    tool: useAnswer(ask('tool', endMs - RETENTION_MS), refresh),
    agent: useAnswer(ask('agent', endMs - RETENTION_MS), refresh),
    // Reading the reasons of all days would take too long.
    reason: useAnswer(ask('reason', fromMs - beforeMs), refresh),
  };
  const answers = { tool: asked.tool.data, agent: asked.agent.data, reason: asked.reason.data };
  const kinds = Object.keys(answers) as Kind[];
  const missing = Object.values(asked).find(({ data }) => data === undefined);
  const isLoading = isKept && missing !== undefined;
  const found = kinds.flatMap((kind) =>
    newOf(answers[kind]?.items ?? [], { fromMs, toMs }).map((item) => ({ ...item, kind })),
  );
  const isOpen = usePlace().query.get('all') === 'new';
  const shown = isOpen ? found : found.slice(0, SHOWN_MAX);
  return (
    <section class="panel" aria-label="First seen in this period">
      <h2>First seen in this period</h2>
      {isLoading && <Waiting answer={missing} lines={3} />}
      {!isKept && <p class="muted">Known for shorter periods: decisions are kept for 90 days.</p>}
      {isKept && !isLoading && found.length === 0 && (
        <p class="muted">
          {kinds.some((kind) => hasOlder(answers[kind]?.items ?? [], fromMs))
            ? 'No new tool, agent or reason.'
            : 'There are no earlier decisions to compare with.'}
        </p>
      )}
      <ul class="new-list">
        {shown.map((item) => (
          <NewItem key={`${item.kind} ${item.value}`} item={item} hrefOf={hrefOf} />
        ))}
      </ul>
      {isKept && !isLoading && (
        <p class="panel-foot muted">
          {found.length > SHOWN_MAX && (
            <>
              <a href={hrefWith({ all: isOpen ? undefined : 'new' })}>
                {isOpen ? 'Show fewer' : `${formatCount(found.length - SHOWN_MAX)} more`}
              </a>{' '}
            </>
          )}
          Tools and agents are compared with the last 90 days, reasons with the{' '}
          {Math.floor(beforeMs / DAY_MS)} days before.{' '}
          {kinds.map((kind) => lookedAt(kind, answers[kind]?.others?.entries ?? 0)).join('')}
        </p>
      )}
    </section>
  );
}

/** A rare value may be among those that the answer does not list. */
function lookedAt(kind: Kind, left: number): string {
  if (left === 0) return '';
  const all = formatCount(VALUES_MAX + left);
  return `Of ${all} ${NAMES[kind].toLowerCase()}s only the ${formatCount(VALUES_MAX)} most frequent were looked at. `;
}

function NewItem({ item: { kind, value, first, total }, hrefOf }: { item: Found; hrefOf: DecisionsHref }) {
  return (
    <li>
      <span class="tag">{NAMES[kind]}</span>
      <a href={hrefOf({ filters: { [kind]: [value] } })}>
        <Inert text={value} />
      </a>
      <time class="muted" dateTime={first}>
        {formatMinute(first)}
      </time>
      <span class="muted">{formatCompact(total)}</span>
    </li>
  );
}
