import type { ComponentChildren } from 'preact';

/** A column's label and its class. Screen readers read a `hidden` label, which is not shown. */
type Column = string | readonly [label: string, kind: string];

type TableProps = { label: string; columns: readonly Column[]; children: ComponentChildren };

/** A table that scrolls sideways where it is too wide, also by keyboard. The children are its rows. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <div class="table-scroll" role="region" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => {
              const [name, kind] = typeof column === 'string' ? [column, ''] : column;
              return (
                <th key={name} scope="col" class={kind}>
                  {kind === 'hidden' ? <span class="visually-hidden">{name}</span> : name}
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
