import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, zoneName } from '../../text/format.ts';
import { useVirtualRows } from '../../ui/virtual-rows.ts';
import { type ColumnName, COLUMNS } from './decision-columns.tsx';
import { type FeedRow, type FeedState, ROWS_MAX } from './decision-feed.ts';

/** The next page is fetched this many rows before the end. */
const AHEAD = 60;

type DecisionListProps = {
  state: FeedState;
  columns: ColumnName[];
  /** The person chose the columns, so none of them is hidden on a narrow screen. */
  isOwn: boolean;
  selected: string | undefined;
  onOpen: (row: FeedRow) => void;
  onEnd: () => void;
};

/** A grid that renders only the visible rows. Arrow keys move, Enter opens. */
export function DecisionList({ state, columns, isOwn, selected, onOpen, onEnd }: DecisionListProps) {
  const { rows, isAtEnd, isLoading, error } = state;
  const place = useRef<HTMLDivElement>(null);
  const { first, last, height, rowHeight, onScroll } = useVirtualRows(place, rows, { keyOf });
  const [active, setActive] = useState<string | undefined>(selected);
  useEffect(() => {
    // After an error the page retries after a pause.
    if (!isAtEnd && !isLoading && error === undefined && last > rows.length - AHEAD) onEnd();
  }, [last, rows.length, isAtEnd, isLoading, error]);

  const indexOf = (id: string | undefined) => rows.findIndex(({ event_id }) => event_id === id);
  const moveTo = (index: number) => {
    setActive(rows[index]?.event_id);
    scrollToRow(place.current, { top: index * rowHeight, rowHeight, height });
  };
  useEffect(() => {
    // The drawer shrinks the list when it opens, and its buttons step through the rows.
    const index = indexOf(selected);
    if (index >= 0) moveTo(index);
  }, [selected, height]);

  const activeIndex = indexOf(active);
  const onKeyDown = (event: KeyboardEvent) => {
    const target = targetOf(event.key, {
      index: activeIndex,
      page: Math.max(1, Math.floor(height / rowHeight) - 1),
      last: rows.length - 1,
    });
    if (event.key === 'Enter' && activeIndex >= 0) {
      const row = rows[activeIndex];
      if (row !== undefined) onOpen(row);
    }
    if (target === undefined) return;
    event.preventDefault();
    moveTo(target);
  };

  return (
    <div
      ref={place}
      class={isOwn ? 'decision-list own-columns' : 'decision-list'}
      style={isOwn ? { '--columns': columns.map((name) => COLUMNS[name].width).join(' ') } : {}}
      role="grid"
      aria-label="Decisions. Use the arrow keys to move and Enter for details"
      aria-rowcount={isAtEnd ? rows.length + 1 : -1}
      aria-activedescendant={activeIndex >= first && activeIndex < last ? `row-${active}` : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div class="decision-head" role="row" aria-rowindex={1}>
        {columns.map((name) => (
          <span key={name} role="columnheader">
            {COLUMNS[name].label}
            {name === 'time' && ` (${zoneName(rows[0]?.occurred_at, rows.at(-1)?.occurred_at)})`}
          </span>
        ))}
      </div>
      <div class="decision-space" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {rows.slice(first, last).map((row, offset) => (
          <DecisionRow
            key={row.event_id}
            row={row}
            columns={columns}
            index={first + offset}
            top={(first + offset) * rowHeight}
            isActive={row.event_id === active}
            isSelected={row.event_id === selected}
            onOpen={onOpen}
          />
        ))}
      </div>
      <ListEnd state={state} />
    </div>
  );
}

type DecisionRowProps = {
  row: FeedRow;
  columns: ColumnName[];
  index: number;
  top: number;
  isActive: boolean;
  isSelected: boolean;
  onOpen: (row: FeedRow) => void;
};

function DecisionRow({ row, columns, index, top, isActive, isSelected, onOpen }: DecisionRowProps) {
  return (
    <div
      id={`row-${row.event_id}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      class={`decision-row${isActive ? ' is-active' : ''}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(row)}
    >
      {columns.map((name) => (
        <span key={name} role="gridcell" class={`cell-${name}`}>
          {COLUMNS[name].cell(row)}
        </span>
      ))}
    </div>
  );
}

function ListEnd({ state: { rows, isAtEnd, isLoading } }: { state: FeedState }) {
  if (isLoading) return <p class="list-end">Loading more…</p>;
  if (!isAtEnd) return null;
  if (rows.length >= ROWS_MAX) {
    return (
      <p class="list-end">
        Showing the first {formatCount(rows.length)}. Filter or export to see the others.
      </p>
    );
  }
  return <p class="list-end">End of list</p>;
}

function keyOf({ event_id }: FeedRow): string {
  return event_id;
}

function targetOf(
  key: string,
  { index, page, last }: { index: number; page: number; last: number },
): number | undefined {
  const targets: Record<string, number> = {
    ArrowDown: index + 1,
    ArrowUp: index - 1,
    PageDown: index + page,
    PageUp: index - page,
    Home: 0,
    End: last,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(last, Math.max(0, target));
}

function scrollToRow(
  element: HTMLDivElement | null,
  { top, rowHeight, height }: { top: number; rowHeight: number; height: number },
): void {
  if (element === null) return;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + rowHeight > element.scrollTop + height) element.scrollTop = top + rowHeight - height;
}
