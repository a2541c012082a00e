import type { ComponentChildren } from 'preact';
import { auditOf } from '../api/call.ts';
import { totalsOf } from '../api/series.ts';
import type { Outcome } from '../api/types.ts';
import { useAnswer } from '../api/use-answer.ts';
import {
  type CALL_FILTERS,
  FILTER_PARAMS,
  type FilterName,
  type Filters,
  filtersBut,
  NO_FILTERS,
} from '../app/filters.ts';
import { hrefWith } from '../app/location.ts';
import type { Period } from '../app/period.ts';
import { formatCompact, OUTCOME_LABELS } from '../text/format.ts';
import { Icon } from '../ui/icon.tsx';
import { Inert, Role } from '../ui/inert.tsx';
import { FacetMenu } from './facet-menu.tsx';

const FILTER_LABELS: Record<FilterName, string> = {
  outcome: 'Outcome',
  agent: 'Agent',
  model: 'Model',
  role: 'Role',
  tool: 'Tool',
  user_id: 'User',
  session_id: 'Session',
  reason: 'Reason',
};
const FACETS = ['agent', 'role', 'tool', 'user_id', 'session_id'] as const;

type FilterBarProps = {
  projectId: string;
  period: Period;
  filters: Filters;
  path?: string;
  /** Model calls are filtered and counted by these fields. Without them, decisions are. */
  ofCalls?: readonly (typeof CALL_FILTERS)[number][];
  /** How often the counts of the outcomes are refreshed. */
  refreshMs?: number | undefined;
};

/** All filters of the API. The address bar holds their state; `path` is the page that they lead to. */
export function FilterBar(props: FilterBarProps & { q?: string | undefined; children?: ComponentChildren }) {
  const { filters, path = location.pathname, ofCalls, q, children } = props;
  return (
    <search class="filter-bar" aria-label="Filters">
      {ofCalls === undefined && <OutcomePicker {...props} path={path} q={q} />}
      {(ofCalls ?? FACETS).map((name) => (
        <FacetMenu key={name} {...props} path={path} name={name} label={FILTER_LABELS[name]} />
      ))}
      {children}
      <Chips filters={filters} path={path} q={q} />
    </search>
  );
}

type OutcomePickerProps = FilterBarProps & { path: string; q: string | undefined };

/** The outcomes, with their counts under the other filters. */
function OutcomePicker({ projectId, period, filters, path, q, refreshMs }: OutcomePickerProps) {
  const asked = { ...period, ...filtersBut(filters, 'outcome'), q };
  const { data } = useAnswer(auditOf(projectId, 'timeseries', asked), { refreshMs });
  const counts = data && totalsOf(data);
  const outcomes = [undefined, 'deny', 'needs_approval', 'allow'] as const;
  const [current, another] = filters.outcome ?? [];
  const isCurrent = (outcome: Outcome | undefined) =>
    outcome === current && another === undefined && filters['not.outcome'] === undefined;
  return (
    <nav class="segments" aria-label="Outcome">
      {outcomes.map((outcome) => (
        <a
          key={outcome ?? 'all'}
          href={hrefWith({ outcome, 'not.outcome': undefined }, path)}
          aria-current={isCurrent(outcome) ? 'true' : undefined}
        >
          {outcome === undefined ? 'All' : OUTCOME_LABELS[outcome]}{' '}
          <span class="segment-count">{counts && formatCompact(counts[outcome ?? 'total'])}</span>
        </a>
      ))}
    </nav>
  );
}

type ChipsProps = { filters: Filters; path: string; q: string | undefined };

/** The active filters; each can be removed. */
function Chips({ filters, path, q }: ChipsProps) {
  const chips = FILTER_PARAMS.flatMap((param) => (filters[param] ?? []).map((value) => ({ param, value })));
  const count = chips.length + (q === undefined ? 0 : 1);
  if (count === 0) return null;
  return (
    <ul class="chips" aria-label="Active filters">
      {chips.map(({ param, value }) => (
        <Chip key={`${param} ${value}`} {...{ param, value, filters, path }} />
      ))}
      <li>
        <a class="clear-filters" href={hrefWith(NO_FILTERS, path)}>
          <Icon name="close" /> Clear {count === 1 ? 'filter' : `${count} filters`}
        </a>
      </li>
    </ul>
  );
}

type ChipProps = { param: keyof Filters; value: string; filters: Filters; path: string };

function Chip({ param, value, filters, path }: ChipProps) {
  const name = param.replace('not.', '') as FilterName;
  const rest = filters[param]?.filter((other) => other !== value);
  const label = FILTER_LABELS[name];
  return (
    <li class={param === name ? 'chip' : 'chip chip-not'}>
      {label} {param === name ? '' : 'is not '}
      <b>{name === 'role' ? <Role role={value} /> : <Inert text={filterText(name, value)} />}</b>
      <a href={hrefWith({ [param]: rest }, path)} aria-label={`Remove this filter by ${label.toLowerCase()}`}>
        <Icon name="close" />
      </a>
    </li>
  );
}

function filterText(name: FilterName, value: string): string {
  if (name === 'outcome' && Object.hasOwn(OUTCOME_LABELS, value)) return OUTCOME_LABELS[value as Outcome];
  return value === '' ? '(none)' : value;
}
