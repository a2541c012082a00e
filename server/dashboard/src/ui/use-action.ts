import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, asApiError } from '../api/api-error.ts';

type Action<Args extends unknown[]> = {
  run: (...args: Args) => Promise<void>;
  isRunning: boolean;
  error: ApiError | undefined;
};

/** Runs one action at a time and keeps its error. */
export function useAction<Args extends unknown[]>(work: (...args: Args) => Promise<void>): Action<Args> {
  const [isRunning, setIsRunning] = useState(false);
  const [error, setError] = useState<ApiError | undefined>(undefined);
  const latest = useRef(work);
  latest.current = work;
  const busy = useRef(false);
  const run = useCallback(async (...args: Args) => {
    if (busy.current) return;
    busy.current = true;
    setIsRunning(true);
    setError(undefined);
    try {
      await latest.current(...args);
    } catch (thrown) {
      if (thrown instanceof DOMException && thrown.name === 'AbortError') return;
      setError(asApiError(thrown));
      if (!(thrown instanceof ApiError)) throw thrown;
    } finally {
      busy.current = false;
      setIsRunning(false);
    }
  }, []);
  return { run, isRunning, error };
}

/**
 * Aborted when the component is removed, or shows something else: reads for it need not go on, and nothing happens on the page that is
 * shown then.
 */
export function useSignal(shown = ''): AbortSignal {
  const abort = useMemo(() => new AbortController(), [shown]);
  useEffect(() => () => abort.abort(), [abort]);
  return abort.signal;
}
