import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { recall, remember } from '../../app/remembered.ts';
import { formatTime } from '../../text/format.ts';
import { Inert, Role } from '../../ui/inert.tsx';
import { Menu } from '../../ui/menu.tsx';
import { OutcomeBadge } from '../../ui/outcome.tsx';
import type { FeedRow } from './decision-feed.ts';

type ColumnOf = {
  label: string;
  /** The width of the column as a grid track, among chosen columns. */
  width: string;
  cell: (row: FeedRow) => ComponentChildren;
};

export const COLUMNS = {
  time: {
    label: 'Time',
    width: '132px',
    cell: ({ occurred_at }) => <time dateTime={occurred_at}>{formatTime(occurred_at)}</time>,
  },
  outcome: { label: 'Outcome', width: '146px', cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  agent: textColumn('Agent', '1.1fr', ({ agent_name }) => agent_name),
  tool: textColumn('Tool', '1fr', ({ tool_name }) => tool_name),
  role: { label: 'Role', width: 'minmax(0, 0.7fr)', cell: ({ role }) => <Role role={role} /> },
  reason: textColumn('Reason', '2.4fr', ({ reason }) => reason),
  user: textColumn('User', '0.8fr', ({ user_id }) => user_id),
  session: textColumn('Session', '0.9fr', ({ session_id }) => session_id),
  error: textColumn('Error type', '0.9fr', ({ error_type }) => error_type),
} satisfies Record<string, ColumnOf>;

export type ColumnName = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as ColumnName[];
const AT_FIRST: ColumnName[] = ['time', 'outcome', 'agent', 'tool', 'role', 'reason', 'user'];

function textColumn(label: string, share: string, textOf: (row: FeedRow) => string): ColumnOf {
  return { label, width: `minmax(0, ${share})`, cell: (row) => <Inert text={textOf(row)} /> };
}

export type Columns = { names: ColumnName[]; isOwn: boolean; choose: (names: ColumnName[]) => void };

/** The columns of the list, as this browser remembers them. */
export function useColumns(): Columns {
  const [names, setNames] = useState(() => columnsFrom(recall('columns')));
  const isOwn = names.join() !== AT_FIRST.join();
  const choose = (chosen: ColumnName[]) => {
    const ordered = NAMES.filter((name) => chosen.includes(name));
    remember('columns', ordered.join() === AT_FIRST.join() ? undefined : ordered.join());
    setNames(ordered);
  };
  return { names, isOwn, choose };
}

/** The columns that a text names, or the default ones if it names none. */
export function columnsFrom(text: string | undefined): ColumnName[] {
  const given = text?.split(',') ?? [];
  const known = NAMES.filter((name) => given.includes(name));
  return known.length === 0 ? AT_FIRST : known;
}

/** Selects the columns of the list; at least one stays. */
export function ColumnsMenu({ names, choose }: Columns) {
  return (
    <Menu kind="menu-end columns-menu" label="Columns" summary="Columns">
      {() => (
        <ul>
          {NAMES.map((name) => (
            <li key={name}>
              <label>
                <input
                  type="checkbox"
                  checked={names.includes(name)}
                  disabled={names.length === 1 && names.includes(name)}
                  onChange={({ currentTarget }) =>
                    choose(currentTarget.checked ? [...names, name] : names.filter((one) => one !== name))
                  }
                />
                {COLUMNS[name].label}
              </label>
            </li>
          ))}
        </ul>
      )}
    </Menu>
  );
}
