import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 2000;

type CopyButtonProps = {
  /** A function is called only when needed, so that a large text is not built in vain. */
  text: string | (() => string);
  label?: string;
};

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const copy = async () => {
    // Browsers allow the clipboard only in secure contexts.
    if (isSecureContext) {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
        () => setState('done'),
        () => setState('failed'),
      );
    } else setState('failed');
    setTimeout(() => setState('idle'), SHOWN_MS);
  };
  const words = { idle: label, done: 'Copied', failed: 'Select and copy by hand' }[state];
  return (
    <button type="button" class="small" onClick={() => void copy()} aria-live="polite">
      <Icon name={state === 'done' ? 'check' : 'copy'} /> {words}
    </button>
  );
}
