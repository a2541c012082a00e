import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

type MenuProps = {
  /** The content of the button. */
  summary: ComponentChildren;
  /** The accessible name of the panel. */
  label: string;
  kind?: string;
  /** Built when the menu opens; `close` closes it. */
  children: (close: () => void) => ComponentChildren;
};

/** A panel below a button. Escape or a press elsewhere closes it; Escape returns the focus to the button. */
export function Menu({ summary, label, kind = '', children }: MenuProps) {
  const [isOpen, setIsOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!isOpen) return undefined;
    const onPress = ({ target }: Event) => {
      if (target instanceof Node && place.current?.contains(target) === false) setIsOpen(false);
    };
    addEventListener('pointerdown', onPress);
    addEventListener('focusin', onPress);
    return () => {
      removeEventListener('pointerdown', onPress);
      removeEventListener('focusin', onPress);
    };
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.preventDefault();
    close();
  };
  return (
    <div ref={place} class={`menu ${kind}`} onKeyDown={onKeyDown}>
      <button ref={button} type="button" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {summary}
      </button>
      {isOpen && (
        <div class="menu-items" role="group" aria-label={label}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
