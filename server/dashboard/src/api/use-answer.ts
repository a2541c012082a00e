import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, mayRecover } from './api-error.ts';
import { request } from './request.ts';

const ANSWERS_MAX = 60;
export const RETRY_MS = 5000;
/** The last answers by path: a page that was there before shows at once, and is brought up to date. */
const answers = new Map<string, unknown>();

type Answer<T> = {
  data: T | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  reload: () => void;
};

type State<T> = { path: string | undefined; data: T | undefined; error: ApiError | undefined };

/** GETs a path; undefined asks for nothing. Tries again by itself when the service or its store is away. */
export function useAnswer<T>(
  path: string | undefined,
  { refreshMs }: { refreshMs?: number } = {},
): Answer<T> {
  const [state, setState] = useState<State<T>>({ path: undefined, data: undefined, error: undefined });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const isCurrent = state.path === path;
  const cached = path === undefined ? undefined : (answers.get(path) as T | undefined);

  useEffect(() => {
    if (path === undefined) return undefined;
    const abort = new AbortController();
    request<T>(path, { signal: abort.signal }).then(
      (data) => {
        keep(path, data);
        setState({ path, data, error: undefined });
      },
      (error: unknown) => {
        if (error instanceof ApiError) setState({ path, data: undefined, error });
      },
    );
    return () => abort.abort();
  }, [path, round]);

  const error = isCurrent ? state.error : undefined;
  useTimer(mayRecover(error) ? RETRY_MS : refreshMs, reload);
  const data = isCurrent && state.data !== undefined ? state.data : cached;
  return { data, error, isLoading: path !== undefined && data === undefined && error === undefined, reload };
}

function keep(path: string, data: unknown): void {
  answers.delete(path);
  answers.set(path, data);
  const [oldest] = answers.keys();
  if (answers.size > ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
}

/** After a sign-in or a sign-out nothing of the person before may show. */
export function forgetAnswers(): void {
  answers.clear();
}

/** Calls again and again while what went wrong may pass by itself. */
export function useRetry(error: ApiError | undefined, call: () => void): void {
  useTimer(mayRecover(error) ? RETRY_MS : undefined, call);
}

/** Calls every so often while the page is visible; undefined stops it. */
export function useTimer(everyMs: number | undefined, call: () => void): void {
  const latest = useRef(call);
  latest.current = call;
  useEffect(() => {
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
