import type { Outcome, OutcomeCounts } from '../../api/types.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import { formatCompact, formatCount, formatShare } from '../../text/format.ts';
import { Inert, Role } from '../../ui/inert.tsx';
import { Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';

export const ROWS = 8;
/** All of them could be too many for a page. */
export const ROWS_OPEN = 200;
/** As high as the rows that will replace it, so that nothing below moves. */
const LOADING_LINES = 15;
const SORT_KEYS = { decisions: 'total', denials: 'deny', approvals: 'needs_approval' } as const;
const COUNTED = { decisions: 'Decisions', denials: 'Denials', approvals: 'Need approval' } as const;
const TITLES = {
  agent: 'Agents',
  role: 'Roles',
  tool: 'Tools',
  reason: 'Reasons',
  user_id: 'Users',
  session_id: 'Sessions',
} as const;

export type Sort = keyof typeof SORT_KEYS;
export type Row = OutcomeCounts & { name: string };

type TopPanelProps = {
  by: keyof typeof TITLES;
  sort: Sort;
  rows: Row[] | undefined;
  /** How many values are not in `rows`. */
  more?: number;
  /** Without it, the rows count only one outcome, which says nothing about the share of denials. */
  hasRate?: boolean;
  hrefOf: (name: string) => string;
};

/** Whether the rest of a panel is shown. The address bar holds it. */
export function useIsOpen(by: TopPanelProps['by']): boolean {
  return usePlace().query.get('all') === by;
}

/** The values of one field with the most decisions. A link shows the rest of them. */
export function TopPanel({ by, sort, rows, more = 0, hasRate = true, hrefOf }: TopPanelProps) {
  const isOpen = useIsOpen(by);
  const key = SORT_KEYS[sort];
  const sorted = rows?.filter((row) => row[key] > 0).sort((a, b) => b[key] - a[key]);
  const max = sorted?.[0]?.[key] ?? 0;
  const shown = sorted?.slice(0, isOpen ? ROWS_OPEN : ROWS) ?? [];
  const rest = (sorted?.length ?? 0) + more - shown.length;
  const title = TITLES[by];
  const list = { by, sort, max, hasRate, hrefOf };
  return (
    <section class={isOpen ? 'panel panel-open' : 'panel'} aria-label={title}>
      <h2>{title}</h2>
      {sorted === undefined && <Loading lines={LOADING_LINES} />}
      {sorted?.length === 0 && <p class="muted">None in this period.</p>}
      {shown.length > 0 && (isOpen ? <FullList {...list} rows={shown} /> : <Bars {...list} rows={shown} />)}
      {isOpen || rest > 0 ? (
        <p class="panel-foot">
          {isOpen && rest > 0 && <span class="muted">{formatCount(rest)} more are not listed. </span>}
          <a href={hrefWith({ all: isOpen ? undefined : by })}>
            {isOpen ? 'Show fewer' : `${formatCount(rest)} more`}
          </a>
        </p>
      ) : null}
    </section>
  );
}

type ListProps = Pick<TopPanelProps, 'by' | 'sort' | 'hrefOf'> & {
  rows: Row[];
  max: number;
  hasRate: boolean;
};

function Bars({ by, sort, rows, max, hasRate, hrefOf }: ListProps) {
  return (
    <>
      <div class="bar-head" aria-hidden="true">
        <span />
        <span>{COUNTED[sort]}</span>
        {hasRate && <span>Denied</span>}
      </div>
      <ol class="bars">
        {rows.map((row) => (
          <li key={row.name}>
            <a class="bar-row" href={hrefOf(row.name)}>
              <span class="bar-name">
                <Name by={by} name={row.name} />
              </span>
              <span class="bar-count" title={formatCount(row[SORT_KEYS[sort]])}>
                {formatCompact(row[SORT_KEYS[sort]])}
              </span>
              {hasRate && (
                <span class="bar-rate">
                  {formatShare(row.deny, row.total)}
                  <span class="visually-hidden"> denied</span>
                </span>
              )}
              <Bar row={row} max={max} sort={sort} />
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The same as a table that sorts by its headings. */
function FullList({ by, sort, rows, max, hasRate, hrefOf }: ListProps) {
  const counted = COUNTED[sort];
  const countOf = (row: Row) => row[SORT_KEYS[sort]];
  const { sorted, column } = useSorted(
    rows,
    { Name: ({ name }) => name, [counted]: countOf, Denied: ({ deny, total }) => deny / total },
    { first: `-${counted}`, param: `order-${by}` },
  );
  return (
    <Table
      label={`List of ${TITLES[by].toLowerCase()}`}
      columns={[
        column('Name'),
        ['Share', 'usage-share'],
        column(counted, 'number'),
        ...(hasRate ? [column('Denied', 'number')] : []),
      ]}
    >
      {sorted.map((row) => (
        <tr key={row.name}>
          <th scope="row" class="cell-long">
            <a href={hrefOf(row.name)}>
              <Name by={by} name={row.name} />
            </a>
          </th>
          <td class="usage-share">
            <Bar row={row} max={max} sort={sort} />
          </td>
          <td class="number">{formatCount(countOf(row))}</td>
          {hasRate && <td class="number">{formatShare(row.deny, row.total)}</td>}
        </tr>
      ))}
    </Table>
  );
}

function Name({ by, name }: { by: TopPanelProps['by']; name: string }) {
  return by === 'role' ? <Role role={name} /> : <Inert text={name} />;
}

function Bar({ row, max, sort }: { row: Row; max: number; sort: Sort }) {
  const parts: Outcome[] = sort === 'decisions' ? ['deny', 'needs_approval', 'allow'] : [SORT_KEYS[sort]];
  return (
    <span class="bar" aria-hidden="true">
      {parts.map((part) => (
        <span
          key={part}
          class={`bar-part tone-${part}`}
          style={{ width: `${max === 0 ? 0 : (row[part] / max) * 100}%` }}
        />
      ))}
    </span>
  );
}
