import { useEffect, useRef } from 'preact/hooks';
import { FILTER_NAMES, type FilterName, type Filters } from '../../api/call.ts';
import type { OutcomeCounts, Summary } from '../../api/types.ts';
import { hrefWith, navigate } from '../../app/location.ts';
import { formatCompact, NO_ROLE, OUTCOME_LABELS, roleLabel } from '../../text/format.ts';
import { cutText, inertText } from '../../text/inert-text.ts';
import { Icon } from '../../ui/icon.tsx';

const LABELS: Record<FilterName, string> = {
  outcome: 'Outcome',
  agent: 'Agent',
  role: 'Role',
  tool: 'Tool',
  user_id: 'User',
  session_id: 'Session',
};
const OPTION_CHARS = 60;

type FilterBarProps = { filters: Filters; summary: Summary | undefined };

/** All filters of the API. The address bar holds their state. */
export function FilterBar({ filters, summary }: FilterBarProps) {
  const agents = summary?.by_agent.map((row) => option(row.agent_name, row)) ?? [];
  const roles = summary?.by_role.map((row) => option(row.role, row)) ?? [];
  const tools = summary?.by_tool.map((row) => option(row.tool_name, row)) ?? [];
  const active = FILTER_NAMES.filter((name) => filters[name] !== undefined);
  return (
    <search class="filter-bar" aria-label="Filters">
      <OutcomePicker current={filters.outcome} totals={summary?.totals} />
      <Choice name="agent" options={agents} value={filters.agent} />
      <Choice name="role" options={roles} value={filters.role} />
      <Choice name="tool" options={tools} value={filters.tool} />
      <TextFilter name="user_id" value={filters.user_id} />
      <TextFilter name="session_id" value={filters.session_id} />
      {active.length > 0 && (
        <a class="clear-filters" href={hrefWith(cleared(active))}>
          <Icon name="close" /> Clear {active.length === 1 ? 'filter' : `${active.length} filters`}
        </a>
      )}
    </search>
  );
}

const GONE = { event: undefined, at: undefined };

function cleared(names: FilterName[]): Record<string, undefined> {
  return { ...GONE, ...Object.fromEntries(names.map((name) => [name, undefined])) };
}

type Option = { value: string; count: number };

function option(value: string, { total }: OutcomeCounts): Option {
  return { value, count: total };
}

function OutcomePicker({
  current,
  totals,
}: {
  current: string | undefined;
  totals: OutcomeCounts | undefined;
}) {
  const outcomes = [undefined, 'deny', 'needs_approval', 'allow'] as const;
  return (
    <nav class="segments" aria-label="Outcome">
      {outcomes.map((outcome) => (
        <a
          key={outcome ?? 'all'}
          href={hrefWith({ ...GONE, outcome })}
          aria-current={current === outcome ? 'true' : undefined}
        >
          {outcome === undefined ? 'All' : OUTCOME_LABELS[outcome]}{' '}
          {totals !== undefined && (
            <span class="segment-count">{formatCompact(totals[outcome ?? 'total'])}</span>
          )}
        </a>
      ))}
    </nav>
  );
}

/** Option values start with =, to tell the empty role from "any". */
function Choice({
  name,
  options,
  value,
}: {
  name: FilterName;
  options: Option[];
  value: string | undefined;
}) {
  const isListed = value === undefined || options.some((known) => known.value === value);
  const listed = isListed ? options : [{ value, count: 0 }, ...options];
  return (
    <label class={value === undefined ? 'choice' : 'choice choice-on'}>
      <span>{LABELS[name]}</span>
      <select
        aria-label={LABELS[name]}
        value={value === undefined ? 'any' : `=${value}`}
        onChange={({ currentTarget }) => {
          const chosen = currentTarget.value;
          navigate(hrefWith({ ...GONE, [name]: chosen === 'any' ? undefined : chosen.slice(1) }));
        }}
      >
        <option value="any">any</option>
        {listed.map((known) => (
          <option key={known.value} value={`=${known.value}`}>
            {optionText(name, known.value)} · {formatCompact(known.count)}
          </option>
        ))}
        {name === 'role' && !listed.some((known) => known.value === '') && (
          <option value="=">{NO_ROLE}</option>
        )}
      </select>
    </label>
  );
}

function optionText(name: FilterName, value: string): string {
  return inertText(cutText(name === 'role' ? roleLabel(value) : value, OPTION_CHARS));
}

function TextFilter({ name, value }: { name: FilterName; value: string | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The filter changed elsewhere, for example by Back. A new input would lose the focus.
    if (input.current !== null) input.current.value = value ?? '';
  }, [value]);
  const apply = (text: string) => {
    const given = text === '' ? undefined : text;
    if (given !== value) navigate(hrefWith({ ...GONE, [name]: given }));
  };
  return (
    <label class={value === undefined ? 'choice' : 'choice choice-on'}>
      <span>{LABELS[name]}</span>
      <input
        ref={input}
        aria-label={LABELS[name]}
        type="search"
        defaultValue={value ?? ''}
        placeholder="ID"
        spellcheck={false}
        maxLength={200}
        onKeyDown={(event) => {
          if (event.key === 'Enter') apply(event.currentTarget.value);
        }}
        onChange={({ currentTarget }) => apply(currentTarget.value)}
      />
    </label>
  );
}
