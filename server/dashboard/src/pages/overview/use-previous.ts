import { useRef } from 'preact/hooks';
import { timeseriesOf } from '../../api/call.ts';
import type { Timeseries } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { rangeOf } from '../../app/period.ts';
import type { Previous } from '../../charts/time-series.tsx';

/** Records are kept so long. */
const KEPT_MS = 90 * 86_400_000;

/**
 * The same series of the period before this one, as long as it; undefined where its records have expired. The last one stays
 * until the next is there.
 */
export function usePrevious(
  projectId: string,
  series: Timeseries | undefined,
  filters: Filters,
): Previous | undefined {
  const [fromMs, toMs] = [Date.parse(series?.from ?? ''), Date.parse(series?.to ?? '')];
  const shiftMs = toMs - fromMs;
  // False for a series that is not there yet.
  const isKept = fromMs - shiftMs > Date.now() - KEPT_MS;
  const range = isKept ? rangeOf(fromMs - shiftMs, fromMs) : undefined;
  const { data } = useAnswer(range && timeseriesOf(projectId, { ...range, ...filters }));
  const of = JSON.stringify([series?.window, shiftMs, filters]);
  const kept = useRef<{ of: string; series: Timeseries } | undefined>(undefined);
  if (data !== undefined) kept.current = { of, series: data };
  if (kept.current?.of !== of) return undefined;
  return {
    series: kept.current.series,
    shiftMs,
    label: series?.window ? `${series.window} before` : 'Period before',
  };
}
