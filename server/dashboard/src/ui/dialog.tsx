import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    // Closing it, instead of only removing it, makes the browser restore the focus.
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={place}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
