import { useMemo, useRef } from 'preact/hooks';
import type { Call } from '../../api/call.ts';
import { serviceTime } from '../../api/service-clock.ts';
import type { Timeseries, UsageSeries } from '../../api/types.ts';
import { type Loaded, useAnswer } from '../../api/use-answer.ts';
import { rangeOf } from '../../api/relative-period.ts';
import { usePeriod } from '../../app/location.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { WEEK_MS, weeksOf } from './change.ts';
import { RETENTION_MS } from '../../../../limits.ts';

type Series = Timeseries | UsageSeries;
type Name = `GET /v1/projects/{id}/audit/${'timeseries' | 'llm-usage/timeseries'}`;
/** `failed`: the read without which there is none. */
type Compared<S> = {
  previous?: (Previous<S> & { words: string }) | undefined;
  failed?: Loaded<Name> | undefined;
};
/** The call for the same series of another period. */
type Ask = (range: { from: string; to: string }) => Call<Name>;

/**
 * The same series of an earlier period on the same weekdays: whole weeks earlier. If nothing was recorded then, of the period right before;
 * undefined if its records have expired. An unfinished period is compared with the same part of the earlier one. The last answer stays
 * until the next one is there.
 */
export function usePrevious<S extends Series>(series: S | undefined, ask: Ask): Compared<S> {
  const lengthMs = Date.parse(series?.to ?? '') - Date.parse(series?.from ?? '');
  const weeks = weeksOf(lengthMs);
  const { shifted: earlier, failed } = useShifted({ series, ask, shiftMs: weeks * WEEK_MS });
  const isEmpty = earlier === undefined ? !isKept(series, weeks * WEEK_MS) : isEmptySeries(earlier);
  // For a week or a multiple of it, both are the same.
  const needsOther = isEmpty && weeks * WEEK_MS !== lengthMs;
  const other = useShifted({ series: needsOther ? series : undefined, ask, shiftMs: lengthMs });
  if (series === undefined || failed !== undefined) return { failed };
  if (needsOther) {
    const label = series.window ? `${series.window} before` : 'Period before';
    if (other.shifted === undefined) return { failed: other.failed };
    const words = `the ${label.toLowerCase()}`;
    return { previous: { series: other.shifted, shiftMs: lengthMs, label, words } };
  }
  const label = weeks === 1 ? 'A week before' : `${weeks} weeks before`;
  if (earlier === undefined) return {};
  return { previous: { series: earlier, shiftMs: weeks * WEEK_MS, label, words: label.toLowerCase() } };
}

/** False for a series that is not there yet. */
function isKept(series: Series | undefined, shiftMs: number): boolean {
  return Date.parse(series?.from ?? '') - shiftMs > serviceTime() - RETENTION_MS;
}

export function isEmptySeries({ buckets }: Series): boolean {
  return buckets.every((bucket) => ('calls' in bucket ? bucket.calls : bucket.total) === 0);
}

type Shifted<S> = { series: S | undefined; ask: Ask; shiftMs: number };

function useShifted<S extends Series>({ series, ask, shiftMs }: Shifted<S>) {
  const [fromMs, toMs] = [Date.parse(series?.from ?? ''), Date.parse(series?.to ?? '')];
  // Taken with each answer: a range that changed with every render would be requested endlessly.
  const untilMs = useMemo(() => Math.min(toMs, serviceTime()), [series]);
  const range =
    isKept(series, shiftMs) && fromMs < untilMs ? rangeOf(fromMs - shiftMs, untilMs - shiftMs) : undefined;
  const answer = useAnswer(range && ask(range));
  const of = JSON.stringify([usePeriod(), shiftMs, ask({ from: '', to: '' }).path]);
  const kept = useRef<{ of: string; series: S } | undefined>(undefined);
  if (answer.data !== undefined) kept.current = { of, series: answer.data as S };
  const shifted = range !== undefined && kept.current?.of === of ? kept.current.series : undefined;
  return { shifted, failed: shifted === undefined && answer.error !== undefined ? answer : undefined };
}
