import { useRef, useState } from 'preact/hooks';

/** The first and the last selected index. */
export type Selection = [first: number, last: number];

const STEPS: Record<string, (index: number, last: number) => number> = {
  ArrowLeft: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  Home: () => 0,
  End: (_index, last) => last,
};

/** The bucket under the pointer or chosen by keys, and the buckets selected by a drag, or with Shift and the keys. */
export function useSelection(count: number, zoom: (selection: Selection) => void) {
  const [at, setAt] = useState<number | undefined>(undefined);
  const [anchor, setAnchor] = useState<number | undefined>(undefined);
  const hasDragged = useRef(false);
  const index = Math.min(at ?? count - 1, count - 1);
  const selection: Selection | undefined =
    anchor === undefined || anchor === index ? undefined : [Math.min(anchor, index), Math.max(anchor, index)];
  const leave = () => {
    setAt(undefined);
    setAnchor(undefined);
  };

  const onPointerDown = (event: PointerEvent) => {
    hasDragged.current = false;
    if (event.button !== 0 || !(event.currentTarget instanceof HTMLElement)) return;
    const plot = event.currentTarget;
    const start = indexAt(plot, event.clientX, count);
    let end = start;
    setAt(start);
    const onMove = ({ clientX }: PointerEvent) => {
      end = indexAt(plot, clientX, count);
      hasDragged.current ||= end !== start;
      if (hasDragged.current) setAnchor(start);
      setAt(end);
    };
    const onEnd = ({ type }: PointerEvent) => {
      removeEventListener('pointermove', onMove);
      removeEventListener('pointerup', onEnd);
      removeEventListener('pointercancel', onEnd);
      setAnchor(undefined);
      if (type === 'pointerup' && end !== start) zoom([Math.min(start, end), Math.max(start, end)]);
    };
    addEventListener('pointermove', onMove);
    addEventListener('pointerup', onEnd);
    addEventListener('pointercancel', onEnd);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && selection !== undefined) {
      event.preventDefault();
      zoom(selection);
      setAnchor(undefined);
    } else if (event.key === 'Escape' && selection !== undefined) {
      event.preventDefault();
      setAnchor(undefined);
    }
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    setAnchor(event.shiftKey ? (anchor ?? index) : undefined);
    // The first press shows the current position.
    setAt(at === undefined ? index : Math.min(count - 1, Math.max(0, step(index, count - 1))));
  };

  const handlers = {
    onPointerDown,
    onKeyDown,
    onPointerMove: (event: PointerEvent) => {
      if (event.currentTarget instanceof HTMLElement)
        setAt(indexAt(event.currentTarget, event.clientX, count));
    },
    onPointerLeave: () => {
      if (anchor === undefined) setAt(undefined);
    },
    onFocusIn: () => setAt(index),
    onBlurCapture: leave,
    // A drag that ends on a link is not a click on it.
    onClickCapture: (event: MouseEvent) => {
      if (!hasDragged.current) return;
      hasDragged.current = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  return { index, isActive: at !== undefined, selection, handlers };
}

function indexAt(plot: HTMLElement, clientX: number, count: number): number {
  const { left, width } = plot.getBoundingClientRect();
  return Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
}
