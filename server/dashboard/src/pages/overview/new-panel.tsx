import { type Answer, breakdownOf } from '../../api/call.ts';
import type { Timeseries } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { rangeOf } from '../../app/period.ts';
import { formatCompact, formatCount, formatMinute } from '../../text/format.ts';
import { Inert } from '../../ui/inert.tsx';
import { Loading } from '../../ui/states.tsx';
import { newOf } from './new-values.ts';
import type { DecisionsHref } from './overview-page.tsx';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;
const KEPT_MS = 90 * 24 * HOUR_MS;
const REFRESH_MS = 60_000;
const VALUES_MAX = 1000;
const SHOWN_MAX = 12;
const SEARCH_CHARS_MAX = 200;
const NAMES = { tool: 'Tool', agent: 'Agent', reason: 'Reason' } as const;
type Kind = keyof typeof NAMES;
type Item = Answer<'GET /v1/projects/{id}/audit/breakdown'>['items'][number];
type Found = Item & { kind: Kind };

type NewPanelProps = {
  projectId: string;
  /** Of the period, as it is shown. */
  series: Timeseries;
  filters: Filters;
  hrefOf: DecisionsHref;
};

/** Tools, agents and reasons of this period that were not seen in the time before it: as long as it, a week at least. */
export function NewPanel({ projectId, series, filters, hrefOf }: NewPanelProps) {
  const [fromMs, toMs] = [Date.parse(series.from), Date.parse(series.to)];
  const sinceMs = fromMs - Math.max(WEEK_MS, toMs - fromMs);
  const isKept = sinceMs > Date.now() - KEPT_MS;
  // By the hour, so that it is the same question for a while.
  const range = isKept
    ? rangeOf(Math.floor(sinceMs / HOUR_MS) * HOUR_MS, Math.ceil(toMs / HOUR_MS) * HOUR_MS)
    : undefined;
  const ask = (by: Kind) => range && breakdownOf(projectId, { by, limit: VALUES_MAX, ...range, ...filters });
  const refresh = { refreshMs: REFRESH_MS };
  const answers = {
    tool: useAnswer(ask('tool'), refresh).data,
    agent: useAnswer(ask('agent'), refresh).data,
    reason: useAnswer(ask('reason'), refresh).data,
  };
  const isLoading = isKept && Object.values(answers).some((answer) => answer === undefined);
  const found = Object.entries(answers).flatMap(([kind, answer]) =>
    newOf(answer?.items ?? [], { fromMs, toMs }).map((item) => ({ ...item, kind: kind as Kind })),
  );
  return (
    <section class="panel" aria-label="First seen in this period">
      <h2>First seen in this period</h2>
      {isLoading && <Loading lines={3} />}
      {!isKept && <p class="muted">Known for shorter periods: decisions are kept for 90 days.</p>}
      {isKept && !isLoading && found.length === 0 && <p class="muted">No new tool, agent or reason.</p>}
      <ul class="new-list">
        {found.slice(0, SHOWN_MAX).map((item) => (
          <NewItem key={`${item.kind} ${item.value}`} item={item} hrefOf={hrefOf} />
        ))}
      </ul>
      {found.length > SHOWN_MAX && <p class="muted">{formatCount(found.length - SHOWN_MAX)} more are new.</p>}
    </section>
  );
}

function NewItem({ item: { kind, value, first, total }, hrefOf }: { item: Found; hrefOf: DecisionsHref }) {
  const href =
    kind === 'reason'
      ? hrefOf({ q: value.slice(0, SEARCH_CHARS_MAX) })
      : hrefOf({ filters: { [kind]: [value] } });
  return (
    <li>
      <span class="tag">{NAMES[kind]}</span>
      <a href={href}>
        <Inert text={value} />
      </a>
      <time class="muted" dateTime={first}>
        {formatMinute(first)}
      </time>
      <span class="muted">{formatCompact(total)}</span>
    </li>
  );
}
