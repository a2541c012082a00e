import { useMemo, useRef } from 'preact/hooks';
import type { Call } from '../../api/call.ts';
import { serviceTime } from '../../api/service-clock.ts';
import type { Timeseries, UsageSeries } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { rangeOf } from '../../api/relative-period.ts';
import { usePeriod } from '../../app/location.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { WEEK_MS, weeksOf } from './change.ts';
import { RETENTION_MS } from '../../../../limits.ts';

type Series = Timeseries | UsageSeries;
type Name = `GET /v1/projects/{id}/audit/${'timeseries' | 'llm-usage/timeseries'}`;
/** The call for the same series of another period. */
type Ask = (range: { from: string; to: string }) => Call<Name>;

/**
 * The same series of an earlier period on the same weekdays: whole weeks earlier. If nothing was recorded then, of the period right before;
 * undefined if its records have expired. An unfinished period is compared with the same part of the earlier one. The last answer stays
 * until the next one is there.
 */
export function usePrevious<S extends Series>(
  series: S | undefined,
  ask: Ask,
): (Previous<S> & { words: string }) | undefined {
  const lengthMs = Date.parse(series?.to ?? '') - Date.parse(series?.from ?? '');
  const weeks = weeksOf(lengthMs);
  const earlier = useShifted({ series, ask, shiftMs: weeks * WEEK_MS });
  const isEmpty = earlier === undefined ? !isKept(series, weeks * WEEK_MS) : isEmptySeries(earlier);
  // For a week or a multiple of it, both are the same.
  const needsOther = isEmpty && weeks * WEEK_MS !== lengthMs;
  const before = useShifted({ series: needsOther ? series : undefined, ask, shiftMs: lengthMs });
  if (series === undefined) return undefined;
  if (needsOther) {
    const label = series.window ? `${series.window} before` : 'Period before';
    return before && { series: before, shiftMs: lengthMs, label, words: `the ${label.toLowerCase()}` };
  }
  const label = weeks === 1 ? 'A week before' : `${weeks} weeks before`;
  return earlier && { series: earlier, shiftMs: weeks * WEEK_MS, label, words: label.toLowerCase() };
}

/** False for a series that is not there yet. */
function isKept(series: Series | undefined, shiftMs: number): boolean {
  return Date.parse(series?.from ?? '') - shiftMs > serviceTime() - RETENTION_MS;
}

export function isEmptySeries({ buckets }: Series): boolean {
  return buckets.every((bucket) => ('calls' in bucket ? bucket.calls : bucket.total) === 0);
}

type Shifted<S> = { series: S | undefined; ask: Ask; shiftMs: number };

function useShifted<S extends Series>({ series, ask, shiftMs }: Shifted<S>): S | undefined {
  const [fromMs, toMs] = [Date.parse(series?.from ?? ''), Date.parse(series?.to ?? '')];
  // Taken with each answer: a range that changed with every render would be requested endlessly.
  const untilMs = useMemo(() => Math.min(toMs, serviceTime()), [series]);
  const range =
    isKept(series, shiftMs) && fromMs < untilMs ? rangeOf(fromMs - shiftMs, untilMs - shiftMs) : undefined;
  const { data } = useAnswer(range && ask(range));
  const of = JSON.stringify([usePeriod(), shiftMs, ask({ from: '', to: '' }).path]);
  const kept = useRef<{ of: string; series: S } | undefined>(undefined);
  if (data !== undefined) kept.current = { of, series: data as S };
  return range !== undefined && kept.current?.of === of ? kept.current.series : undefined;
}
