import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Extra rows rendered above and below the visible ones. */
const OVERSCAN = 12;

type Place = { current: HTMLDivElement | null };
type VirtualOptions<Row> = {
  keyOf: (row: Row) => string;
  /** The rows in view stay also when the list is scrolled to its start. */
  keepsStart?: boolean;
};

/** Which rows of a scrolling list are in view, with some around them: from `first` to before `last`. All have the same height. */
export function useVirtualRows<Row>(place: Place, rows: Row[], options: VirtualOptions<Row>) {
  const { top, height, rowHeight, onScroll } = useScroll(place);
  useStayPut(place, rows, { ...options, rowHeight });
  const first = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN);
  const last = Math.min(rows.length, Math.ceil((top + height) / rowHeight) + OVERSCAN);
  return { first, last, height, rowHeight, onScroll };
}

/** The scroll position, the height of the list, and the height of a row from the style sheet. */
function useScroll(place: Place) {
  const [view, setView] = useState({ top: 0, height: 600, rowHeight: 34 });
  const frame = useRef(0);
  const measure = () => {
    const element = place.current;
    if (element === null) return;
    const rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row-height')) || 34;
    // A sticky head covers rows, so its height does not count.
    const headHeight = element.querySelector('.decision-head')?.clientHeight ?? 0;
    const next = { top: element.scrollTop, height: element.clientHeight - headHeight, rowHeight };
    setView((current) =>
      current.top === next.top && current.height === next.height && current.rowHeight === rowHeight
        ? current
        : next,
    );
  };
  useLayoutEffect(() => {
    measure();
    const resized = new ResizeObserver(measure);
    if (place.current !== null) resized.observe(place.current);
    return () => resized.disconnect();
  }, []);
  const onScroll = () => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(measure);
  };
  return { ...view, onScroll };
}

type StayPutOptions<Row> = VirtualOptions<Row> & { rowHeight: number };

/** Keeps the same rows in view when new ones arrive above. */
function useStayPut<Row>(
  place: Place,
  rows: Row[],
  { keyOf, keepsStart = false, rowHeight }: StayPutOptions<Row>,
): void {
  const head = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const element = place.current;
    const [row] = rows;
    const before = head.current;
    head.current = row && keyOf(row);
    if (element === null || before === undefined || before === head.current) return;
    if (element.scrollTop < rowHeight && !keepsStart) return;
    const shift = rows.findIndex((known) => keyOf(known) === before);
    if (shift > 0) element.scrollTop += shift * rowHeight;
  }, [rows]);
}
