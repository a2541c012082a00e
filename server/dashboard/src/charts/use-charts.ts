import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../api/api-error.ts';
import type { Name } from '../api/call.ts';
import { type Loaded, useRetry } from '../api/use-answer.ts';

type Charts = typeof import('./charts.ts');

let loaded: Charts | undefined;

/** An answer to draw, with the charts, whose code is loaded at the same time. `data` is undefined until both are there. */
export function useCharts<N extends Name>(answer: Loaded<N>): Loaded<N> & { charts: Charts | undefined } {
  const [charts, setCharts] = useState(loaded);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const load = () => {
    import('./charts.ts').then(
      (code) => {
        loaded = code;
        setCharts(code);
        setFault(undefined);
      },
      () => setFault(new ApiError({ status: 0, code: 'unreachable', detail: 'The charts cannot be loaded' })),
    );
  };
  useEffect(() => {
    if (loaded === undefined) load();
  }, []);
  useRetry(fault, load);
  const error = answer.error ?? fault;
  const data = charts === undefined ? undefined : answer.data;
  const reload = () => {
    answer.reload();
    if (charts === undefined) load();
  };
  return { charts, data, error, isLoading: data === undefined && error === undefined, reload };
}
