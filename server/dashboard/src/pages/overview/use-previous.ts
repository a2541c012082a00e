import { useRef } from 'preact/hooks';
import { timeseriesOf } from '../../api/call.ts';
import type { Timeseries } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { rangeOf } from '../../app/period.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { WEEK_MS, weeksOf } from './change.ts';

/** Records are kept so long. */
const KEPT_MS = 90 * 86_400_000;

/**
 * The same series of a time before, on the same weekdays: whole weeks earlier. Where nothing was recorded then, of the time
 * right before; undefined where its records have expired. The last one stays until the next is there.
 */
export function usePrevious(
  projectId: string,
  series: Timeseries | undefined,
  filters: Filters,
): (Previous & { words: string }) | undefined {
  const lengthMs = Date.parse(series?.to ?? '') - Date.parse(series?.from ?? '');
  const weeks = weeksOf(lengthMs);
  const earlier = useShifted(projectId, { series, filters, shiftMs: weeks * WEEK_MS });
  const isEmpty = earlier === undefined ? !isKept(series, weeks * WEEK_MS) : isEmptySeries(earlier);
  // Of a week or a multiple of it both are the same.
  const needsOther = isEmpty && weeks * WEEK_MS !== lengthMs;
  const before = useShifted(projectId, {
    series: needsOther ? series : undefined,
    filters,
    shiftMs: lengthMs,
  });
  if (series === undefined) return undefined;
  if (needsOther) {
    const label = series.window ? `${series.window} before` : 'Period before';
    return before && { series: before, shiftMs: lengthMs, label, words: `the ${label.toLowerCase()}` };
  }
  const label = weeks === 1 ? 'A week before' : `${weeks} weeks before`;
  return earlier && { series: earlier, shiftMs: weeks * WEEK_MS, label, words: label.toLowerCase() };
}

/** False for a series that is not there yet. */
function isKept(series: Timeseries | undefined, shiftMs: number): boolean {
  return Date.parse(series?.from ?? '') - shiftMs > Date.now() - KEPT_MS;
}

function isEmptySeries({ buckets }: Timeseries): boolean {
  return buckets.every(({ total }) => total === 0);
}

type Shifted = { series: Timeseries | undefined; filters: Filters; shiftMs: number };

function useShifted(projectId: string, { series, filters, shiftMs }: Shifted): Timeseries | undefined {
  const [fromMs, toMs] = [Date.parse(series?.from ?? ''), Date.parse(series?.to ?? '')];
  const range = isKept(series, shiftMs) ? rangeOf(fromMs - shiftMs, toMs - shiftMs) : undefined;
  const { data } = useAnswer(range && timeseriesOf(projectId, { ...range, ...filters }));
  const of = JSON.stringify([series?.window, shiftMs, filters]);
  const kept = useRef<{ of: string; series: Timeseries } | undefined>(undefined);
  if (data !== undefined) kept.current = { of, series: data };
  return kept.current?.of === of ? kept.current.series : undefined;
}
