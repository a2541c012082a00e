import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, mayRecover } from './api-error.ts';
import type { Answer, Call, Name } from './call.ts';
import { request } from './request.ts';
import { sharedRead } from './shared-read.ts';
import { useStaleAnswer } from './stale-answers.ts';

const ANSWERS_MAX = 60;
const RETRY_MS = 5000;
/** The last answers by path: a page that was shown before appears immediately, and is then refreshed. */
const answers = new Map<string, { data: unknown; atMs: number }>();

export type Loaded<N extends Name> = {
  data: Answer<N> | undefined;
  /** Why there is no data. Data that cannot be refreshed stays on the page, which reports that in one place. */
  error: ApiError | undefined;
  isLoading: boolean;
  reload: () => void;
};

type State<N extends Name> = {
  path: string | undefined;
  data: Answer<N> | undefined;
  error: ApiError | undefined;
  atMs: number;
};

/** Makes a GET call; undefined makes none. Retries automatically while the service or its store is away. */
export function useAnswer<N extends Name>(
  asked: Call<N> | undefined,
  { refreshMs }: { refreshMs?: number | undefined } = {},
): Loaded<N> {
  const path = asked?.path;
  const [state, setState] = useState<State<N>>({
    path: undefined,
    data: undefined,
    error: undefined,
    atMs: 0,
  });
  const [round, setRound] = useState(0);
  const mustBegin = useRef(false);
  const reload = useCallback(() => {
    mustBegin.current = true;
    setRound((count) => count + 1);
  }, []);
  const isRunning = useRef(false);
  const isCurrent = state.path === path;
  const kept = path === undefined ? undefined : answers.get(path);
  const cached = kept?.data as Answer<N> | undefined;

  useEffect(() => {
    if (asked === undefined || path === undefined) return undefined;
    const abort = new AbortController();
    isRunning.current = true;
    const options = { signal: abort.signal, mustBegin: mustBegin.current };
    mustBegin.current = false;
    sharedRead(path, options, (signal) => request(asked, { signal }))
      .then(
        (data) => {
          keep(path, data);
          setState({ path, data, error: undefined, atMs: Date.now() });
        },
        (error: unknown) => {
          if (!(error instanceof ApiError)) return;
          // A person who has lost access must no longer see anything.
          if (error.status === 401 || error.status === 403) answers.delete(path);
          setState({ path, data: undefined, error, atMs: Date.now() });
        },
      )
      .finally(() => {
        if (!abort.signal.aborted) isRunning.current = false;
      });
    return () => abort.abort();
  }, [path, round]);
  /** Not while a call runs: if answers took longer than the interval, none would arrive. */
  const refresh = () => {
    if (!isRunning.current) setRound((count) => count + 1);
  };

  // Another part of the page may have received the answer since.
  const error = isCurrent && (kept === undefined || kept.atMs <= state.atMs) ? state.error : undefined;
  useTimer(mayRecover(error) ? RETRY_MS : refreshMs, refresh);
  useStaleAnswer(error, { atMs: kept?.atMs, reload });
  const data = isCurrent && state.data !== undefined ? state.data : cached;
  const isLoading = path !== undefined && data === undefined && error === undefined;
  return { data, error: data === undefined ? error : undefined, isLoading, reload };
}

function keep(path: string, data: unknown): void {
  answers.delete(path);
  answers.set(path, { data, atMs: Date.now() });
  const [oldest] = answers.keys();
  if (answers.size > ANSWERS_MAX && oldest !== undefined) answers.delete(oldest);
}

/** After a sign-in or sign-out, no data of the previous person may show. */
export function forgetAnswers(): void {
  answers.clear();
}

/** Repeats the call while the error may resolve itself. */
export function useRetry(error: ApiError | undefined, call: () => void): void {
  useTimer(mayRecover(error) ? RETRY_MS : undefined, call);
}

/** Repeats the call at this interval while the page is visible; undefined stops it. */
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
