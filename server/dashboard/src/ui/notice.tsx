import type { ComponentChildren } from 'preact';
import { type ApiError, explain, mayRecover } from '../api/api-error.ts';
import { Icon } from './icon.tsx';

type NoticeProps = { error: ApiError; retry: () => void; children: ComponentChildren };

/** What could not be loaded, why, and a button to try again, in one line. */
export function Notice({ error, retry, children }: NoticeProps) {
  const { title, advice } = explain(error);
  return (
    <div class="notice" role="alert">
      <Icon name="warn" />
      <p>
        {children} {title}. {mayRecover(error) ? 'Retrying automatically.' : advice}
      </p>
      <button type="button" class="small" onClick={retry}>
        <Icon name="refresh" /> Try again
      </button>
    </div>
  );
}
