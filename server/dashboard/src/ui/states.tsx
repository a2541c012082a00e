import type { ComponentChildren } from 'preact';
import { type ApiError, explain, mayRecover } from '../api/api-error.ts';
import type { Name } from '../api/call.ts';
import type { Loaded } from '../api/use-answer.ts';
import { signInHref } from '../app/location.ts';
import { Icon } from './icon.tsx';

/** An error: what happened and what to do about it. */
export function ErrorState({ error, retry }: { error: ApiError; retry: () => void }) {
  const { title, advice, action } = explain(error);
  return (
    <div class="state" role="alert">
      <Icon name="warn" />
      <p class="state-title">{title}</p>
      <p>
        {advice}
        {mayRecover(error) && ' Retrying automatically.'}
      </p>
      <p class="state-actions">
        {action === 'retry' && (
          <button type="button" onClick={retry}>
            <Icon name="refresh" /> Try again
          </button>
        )}
        {action === 'sign-in' && (
          <a class="button primary" href={signInHref()}>
            Sign in
          </a>
        )}
        {action === 'account' && (
          <a class="button" href="/account">
            Your account
          </a>
        )}
      </p>
    </div>
  );
}

type EmptyStateProps = {
  title: string;
  /** Nothing else is on the page. */
  isPage?: boolean;
  children?: ComponentChildren;
};

/** Says why there is nothing to show, and how to change that. */
export function EmptyState({ title, isPage = false, children }: EmptyStateProps) {
  const Title = isPage ? 'h1' : 'p';
  return (
    <div class="state">
      <Title class="state-title">{title}</Title>
      {children}
    </div>
  );
}

type WaitingProps = { answer: Pick<Loaded<Name>, 'error' | 'isLoading' | 'reload'>; lines?: number };

/** Shown while an answer is loading. */
export function Waiting({ answer: { error, isLoading, reload }, lines }: WaitingProps) {
  if (error !== undefined) return <ErrorState error={error} retry={reload} />;
  return isLoading ? <Loading lines={lines} /> : null;
}

/** Grey lines in place of text. Screen readers hear "Loading". */
export function Loading({ lines = 4 }: { lines?: number | undefined }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class={`loading-line loading-line-${index % 3}`} />
      ))}
    </div>
  );
}
