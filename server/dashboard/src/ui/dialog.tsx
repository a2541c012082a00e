import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

type DialogProps = {
  title: string;
  kind?: string;
  onClose: () => void;
  /** While its action runs, the dialog stays open to show how that ends. */
  isBusy?: boolean;
  /** True when the action in the dialog removes or disables the element that opened it. */
  done?: { current: boolean };
  children: ComponentChildren;
};

/** A modal dialog. The browser keeps the focus inside, and Escape closes it. */
export function Dialog({ title, kind = '', onClose, isBusy = false, done, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = place.current;
    // The nearest part of the page around it that can have the focus.
    const around = document.activeElement?.parentElement?.closest<HTMLElement>('[tabindex]');
    dialog?.showModal();
    return () => {
      // Closing it, instead of only removing it, makes the browser restore the focus.
      dialog?.close();
      if (done?.current === true) around?.focus({ preventScroll: true });
    };
  }, []);
  return (
    <dialog
      ref={place}
      class={`dialog ${kind}`}
      aria-labelledby={id}
      closedby={isBusy ? 'none' : 'closerequest'}
      onCancel={(event) => {
        event.preventDefault();
        if (!isBusy) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}
