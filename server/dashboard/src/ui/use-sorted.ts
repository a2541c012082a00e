import { hrefWith, usePlace } from '../app/location.ts';
import type { Column } from './table.tsx';

/** The sort keys of the columns, by label. */
type Keys<Row> = Record<string, (row: Row) => number | string>;
type SortedOptions = {
  /** The label of the default order; a leading `-` sorts downwards. '': the given order. */
  first: string;
  /** The parameter of the address that holds the order. */
  param?: string;
};
type Sorted<Row> = {
  sorted: Row[];
  /** `shown`: the label with what an address need not name, such as the zone of its times. */
  column: (label: string, kind?: string, shown?: string) => Column;
};

/** Rows in the order that the address names, and the heads of the columns, which lead to other orders. */
export function useSorted<Row>(
  rows: Row[],
  keys: Keys<Row>,
  { first, param = 'order' }: SortedOptions,
): Sorted<Row> {
  const given = usePlace().query.get(param) ?? '';
  const order = Object.hasOwn(keys, given.replace(/^-/, '')) ? given : first;
  const isDown = order.startsWith('-');
  const by = order.replace(/^-/, '');
  const keyOf = keys[by];
  const sign = isDown ? -1 : 1;
  return {
    // Rows with equal keys stay in the order of the answer.
    sorted: keyOf === undefined ? rows : rows.toSorted((a, b) => sign * compared(keyOf(a), keyOf(b))),
    column: (label, kind = '', shown = label) => {
      if (!Object.hasOwn(keys, label)) return [shown, kind];
      const isBy = label === by;
      const isText = rows.some((row) => typeof keys[label]?.(row) === 'string');
      // A second click reverses the order. Numbers begin with the highest.
      const next = isBy ? !isDown : !isText;
      const target = `${next ? '-' : ''}${label}`;
      const href = hrefWith({ [param]: target === first ? undefined : target });
      return [shown, kind, { href, direction: !isBy ? 'none' : isDown ? 'descending' : 'ascending' }];
    },
  };
}

export function compared(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
