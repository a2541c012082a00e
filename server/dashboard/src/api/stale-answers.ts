import { useEffect, useState } from 'preact/hooks';
import type { ApiError } from './api-error.ts';

/** An answer that is still shown although asking for it again failed. */
type StaleAnswer = { error: ApiError; atMs: number; reload: () => void };

const stale = new Set<StaleAnswer>();
const listeners = new Set<() => void>();

function announce(): void {
  for (const listener of listeners) listener();
}

/** Registers an answer as stale while its last call has failed. Without `atMs`, nothing is shown, so nothing is stale. */
export function useStaleAnswer(
  error: ApiError | undefined,
  { atMs, reload }: { atMs: number | undefined; reload: () => void },
): void {
  useEffect(() => {
    if (error === undefined || atMs === undefined) return undefined;
    const answer = { error, atMs, reload };
    stale.add(answer);
    announce();
    return () => {
      stale.delete(answer);
      announce();
    };
  }, [error, atMs, reload]);
}

/** The answers that the page shows although they are out of date. */
export function useStaleAnswers(): readonly StaleAnswer[] {
  const [answers, setAnswers] = useState<readonly StaleAnswer[]>([]);
  useEffect(() => {
    const update = () => setAnswers([...stale]);
    listeners.add(update);
    update();
    return () => void listeners.delete(update);
  }, []);
  return answers;
}
