import type { ComponentChildren } from 'preact';

type Sort = { href: string; direction: 'ascending' | 'descending' | 'none' };
/** A column's label, its class and its sort link. Screen readers read a `hidden` label, which is not shown. */
export type Column = string | readonly [label: string, kind: string, sort?: Sort];

type TableProps = { label: string; columns: readonly Column[]; children: ComponentChildren };

const ARROWS = { ascending: '▲', descending: '▼', none: '' };

/** A table that scrolls sideways if it is too wide, also by keyboard. The children are its rows. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind, sort] = typeof column === 'string' ? [column, ''] : column;
              return (
                <th
                  key={name}
                  scope="col"
                  class={kind}
                  aria-sort={sort === undefined || sort.direction === 'none' ? undefined : sort.direction}
                >
                  {kind === 'hidden' && <span class="visually-hidden">{name}</span>}
                  {kind !== 'hidden' && (sort === undefined ? name : <SortLink name={name} sort={sort} />)}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function SortLink({ name, sort: { href, direction } }: { name: string; sort: Sort }) {
  return (
    <a class="sort" href={href}>
      {name}
      <span aria-hidden="true"> {ARROWS[direction]}</span>
    </a>
  );
}
