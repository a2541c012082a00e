import { useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

const SHOWN_MS = 2000;

type CopyButtonProps = {
  /** A function is called only on demand, so that a large text is not built for nothing. */
  text: string | (() => string);
  label?: string;
};

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const copy = async () => {
    const isDone = await copyText(typeof text === 'string' ? text : text());
    setState(isDone ? 'done' : 'failed');
    setTimeout(() => setState('idle'), SHOWN_MS);
  };
  const words = { idle: label, done: 'Copied', failed: 'Could not be copied' }[state];
  return (
    <button type="button" class="small" onClick={() => void copy()} aria-live="polite">
      <Icon name={state === 'done' ? 'check' : 'copy'} /> {words}
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  if (isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  // Over plain HTTP, browsers have no clipboard, but let a page set what a copy contains.
  const put = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
  };
  document.addEventListener('copy', put);
  const isDone = document.execCommand('copy');
  document.removeEventListener('copy', put);
  return isDone;
}
