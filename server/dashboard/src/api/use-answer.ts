import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, mayRecover } from './api-error.ts';
import type { Answer, Call, Name } from './call.ts';
import { request } from './request.ts';
import { sharedRead } from './shared-read.ts';
import { useStaleAnswer } from './stale-answers.ts';

const ANSWERS_MAX = 60;
const RETRY_MS = 5000;
/** The last answers by path: a page that was shown before appears immediately, and is then refreshed. */
const answers = new Map<string, { data: unknown; atMs: number; number: number }>();
/** Numbers the calls in the order in which they were made: answers may arrive in another. */
let calls = 0;

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
  number: number;
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
    number: 0,
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
    const number = (calls += 1);
    isRunning.current = true;
    const options = { signal: abort.signal, mustBegin: mustBegin.current };
    mustBegin.current = false;
    sharedRead(path, options, (signal) => request(asked, { signal }))
      .then(
        (data) => {
          keep(path, data, number);
          setState({ path, data, error: undefined, number });
        },
        (error: unknown) => {
          if (!(error instanceof ApiError)) return;
          // A person who has lost access must no longer see anything.
          if (error.status === 401 || error.status === 403) answers.delete(path);
          setState({ path, data: undefined, error, number });
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

  // Another part of the page may have received a newer answer.
  const data = cached ?? (isCurrent ? state.data : undefined);
  const error = isCurrent && (kept === undefined || kept.number <= state.number) ? state.error : undefined;
  useTimer(mayRecover(error) ? RETRY_MS : refreshMs, refresh);
  useStaleAnswer(error, { atMs: kept?.atMs, reload });
  const isLoading = path !== undefined && data === undefined && error === undefined;
  return { data, error: data === undefined ? error : undefined, isLoading, reload };
}

/** Keeps an answer, unless one that was requested later has already arrived. */
function keep(path: string, data: unknown, number: number): void {
  if ((answers.get(path)?.number ?? 0) > number) return;
  answers.delete(path);
  answers.set(path, { data, atMs: Date.now(), number });
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
