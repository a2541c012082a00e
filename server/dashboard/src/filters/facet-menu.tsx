import { useEffect, useRef, useState } from 'preact/hooks';
import { FILTER_VALUES_MAX } from '../../../limits.ts';
import { auditOf } from '../api/call.ts';
import { useAnswer } from '../api/use-answer.ts';
import { type FilterName, type Filters, filtersBut } from '../app/filters.ts';
import { hrefWith, navigate } from '../app/location.ts';
import type { Period } from '../app/period.ts';
import { formatCompact } from '../text/format.ts';
import { inertText } from '../text/inert-text.ts';
import { Icon } from '../ui/icon.tsx';
import { Inert } from '../ui/inert.tsx';
import { Menu } from '../ui/menu.tsx';
import { Waiting } from '../ui/states.tsx';

/** How many values are fetched and shown at a time. */
const VALUES_MAX = 1000;
const SHOWN_MAX = 50;
const TEXT_CHARS_MAX = 200;

type FacetProps = {
  projectId: string;
  period: Period;
  filters: Filters;
  path: string;
  name: FilterName;
  label: string;
  ofCalls?: readonly unknown[];
  q?: string | undefined;
};

/** A filter of one field: its values to select or exclude, with their counts if known. */
export function FacetMenu(props: FacetProps) {
  const { filters, name, label } = props;
  const count = (filters[name]?.length ?? 0) + (filters[`not.${name}`]?.length ?? 0);
  return (
    <Menu
      kind={count === 0 ? 'facet' : 'facet menu-on'}
      label={`Filter by ${label.toLowerCase()}`}
      summary={
        <>
          {label}
          {count > 0 && <b>{count}</b>}
        </>
      }
    >
      {() => <Facet {...props} />}
    </Menu>
  );
}

function Facet({ projectId, period, filters, path, name, label, ofCalls, q }: FacetProps) {
  const words = `Filter by ${label.toLowerCase()}${name.endsWith('_id') ? ' ID' : ''}`;
  const [text, setText] = useState('');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const others = filtersBut(filters, name);
  const query = { by: name, limit: VALUES_MAX, ...period, ...others };
  const counted = useAnswer(ofCalls === undefined ? auditOf(projectId, 'breakdown', query) : undefined);
  const called = useAnswer(
    ofCalls === undefined ? undefined : auditOf(projectId, 'llm-usage/breakdown', query),
  );
  const asked = ofCalls === undefined ? counted : called;
  const decisions = counted.data?.items.map(({ value, total }) => ({ value, total }));
  const found = decisions ?? called.data?.items.map(({ value, calls }) => ({ value, total: calls }));
  // The service counts the values only without a search, and those of model calls only without a filter by model.
  const isCounted =
    found !== undefined && [q, others.model, others['not.model']].every((one) => one === undefined);
  const picked = [...(filters[name] ?? []), ...(filters[`not.${name}`] ?? [])];
  const missing = picked.filter((value) => found?.some((known) => known.value === value) !== true);
  const all = [...missing.map((value) => ({ value, total: 0 })), ...(found ?? [])];
  const wanted = text.toLowerCase();
  const matching = all.filter(({ value }) => textOf(value).toLowerCase().includes(wanted));
  const isKnown = text === '' || all.some(({ value }) => value === text);
  return (
    <>
      <input
        ref={input}
        type="search"
        aria-label={words}
        placeholder={words}
        spellcheck={false}
        maxLength={TEXT_CHARS_MAX}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || text === '') return;
          event.preventDefault();
          const [only] = matching;
          toggle({ filters, path, name }, matching.length === 1 && only !== undefined ? only.value : text);
          setText('');
        }}
      />
      <Waiting answer={asked} lines={4} />
      <ul class="facet-values">
        {matching.slice(0, SHOWN_MAX).map(({ value, total }) => (
          <FacetValue key={value} {...{ filters, path, name, value }} total={isCounted ? total : undefined} />
        ))}
      </ul>
      {[filters[name], filters[`not.${name}`]].some(isFull) && (
        <p class="muted">A filter takes at most {FILTER_VALUES_MAX} values.</p>
      )}
      {matching.length > SHOWN_MAX && <p class="muted">Type to find the others.</p>}
      {!isKnown && matching.length !== 1 && <p class="muted">Press Enter to filter by exactly this text.</p>}
      {found !== undefined && all.length === 0 && <p class="muted">None in this period.</p>}
    </>
  );
}

type Change = { filters: Filters; path: string; name: FilterName; isNot?: boolean };

/** Adds a value to the filter or to its exclusions, or removes it again. */
function toggle({ filters, path, name, isNot = false }: Change, value: string): void {
  const [param, other] = isNot ? ([`not.${name}`, name] as const) : ([name, `not.${name}`] as const);
  const before = filters[param] ?? [];
  if (!before.includes(value) && isFull(before)) return;
  const without = (values: string[]) => values.filter((one) => one !== value);
  navigate(
    hrefWith(
      {
        [param]: before.includes(value) ? without(before) : [...before, value],
        [other]: without(filters[other] ?? []),
      },
      path,
    ),
    { staysPut: true },
  );
}

function isFull(values: string[] = []): boolean {
  return values.length >= FILTER_VALUES_MAX;
}

type ValueProps = Change & { value: string; total: number | undefined };

function FacetValue({ filters, path, name, value, total }: ValueProps) {
  const text = textOf(value);
  const isPicked = filters[name]?.includes(value) === true;
  const isNot = filters[`not.${name}`]?.includes(value) === true;
  return (
    <li>
      <label>
        <input
          type="checkbox"
          checked={isPicked}
          disabled={!isPicked && isFull(filters[name])}
          onChange={() => toggle({ filters, path, name }, value)}
        />
        <span class="facet-name">
          <Inert text={text} />
        </span>
        {total !== undefined && <span class="muted">{formatCompact(total)}</span>}
      </label>
      <button
        type="button"
        class="ghost icon-button"
        aria-pressed={isNot}
        aria-label={`Exclude ${inertText(text)}`}
        title="Exclude"
        disabled={!isNot && isFull(filters[`not.${name}`])}
        onClick={() => toggle({ filters, path, name, isNot: true }, value)}
      >
        <Icon name="exclude" />
      </button>
    </li>
  );
}

function textOf(value: string): string {
  return value === '' ? '(none)' : value;
}
