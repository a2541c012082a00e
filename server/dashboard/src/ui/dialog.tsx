import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren };

/** A question in front of the page; the browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = place.current;
    dialog?.showModal();
    // Closed, not only taken away: then the browser gives the focus back to where it was.
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
