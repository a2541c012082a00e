import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

type DrawerProps = {
  title: ComponentChildren;
  label: string;
  onClose: () => void;
  children: ComponentChildren;
};

/** A side panel. Escape closes it and restores the focus. */
export function Drawer({ title, label, onClose, children }: DrawerProps) {
  const place = useRef<HTMLElement>(null);
  const latest = useRef(onClose);
  latest.current = onClose;
  // Before the next paint, so that no key press is lost.
  useLayoutEffect(() => {
    const before = document.activeElement;
    place.current?.focus({ preventScroll: true });
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) latest.current();
    };
    addEventListener('keydown', onKey);
    return () => {
      removeEventListener('keydown', onKey);
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    <aside ref={place} class="drawer" aria-label={label} tabIndex={-1}>
      <div class="drawer-head">
        <h2>{title}</h2>
        <button type="button" class="ghost icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="drawer-body">{children}</div>
    </aside>
  );
}
