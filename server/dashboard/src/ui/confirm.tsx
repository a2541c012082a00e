import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { FormError } from './form-error.tsx';
import { useAction } from './use-action.ts';

type ConfirmProps = {
  title: string;
  text: string;
  /** A choice that belongs to the action. */
  children?: ComponentChildren;
  action: string;
  work: () => Promise<unknown>;
  onClose: () => void;
  onDone?: () => void;
  /** What opened it is still there afterwards, and gets the focus. */
  keepsOpener?: boolean;
};

/** Asks for confirmation before an action. */
export function Confirm(props: ConfirmProps) {
  const { title, text, children, action, work, onClose, onDone, keepsOpener = false } = props;
  const done = useRef(false);
  const { run, isRunning, error } = useAction(async () => {
    await work();
    done.current = !keepsOpener;
    onClose();
    onDone?.();
  });
  return (
    <Dialog title={title} onClose={onClose} isBusy={isRunning} done={done}>
      <p>{text}</p>
      {children}
      <FormError error={error} />
      <div class="dialog-actions">
        <button type="button" disabled={isRunning} onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" aria-busy={isRunning} onClick={() => void run()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
