import { type LastName, LASTS, rangeOf } from '../api/relative-period.ts';
import { serviceTime } from '../api/service-clock.ts';
import type { WindowName } from '../api/types.ts';
import { formatMinute, isOfOtherYear } from '../text/format.ts';

export const WINDOWS: readonly WindowName[] = ['24h', '7d', '30d', '90d'];
export const WINDOW_WORDS: Record<WindowName, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

export const LAST_WORDS: Record<LastName, string> = {
  '15m': '15 minutes',
  '1h': '1 hour',
  '6h': '6 hours',
  '12h': '12 hours',
  '3d': '3 days',
  '14d': '14 days',
};

export const WINDOW_HOURS: Record<WindowName, number> = { '24h': 24, '7d': 168, '30d': 720, '90d': 2160 };

/**
 * The period shown. It is a window of the service, another time that ends now, or the time between two instants (RFC 3339, UTC; `to` is
 * exclusive).
 */
export type Period = { window: WindowName } | { last: LastName } | { from: string; to: string };

/** Whether it moves on as time passes. */
export function endsNow(period: Period): boolean {
  return !('from' in period);
}

/** The period of an address; 24 hours if it names none. */
export function periodFrom(query: URLSearchParams): Period {
  const [fromMs, toMs] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
  if (fromMs < toMs) return rangeOf(fromMs, toMs);
  const last = LASTS.find((name) => name === query.get('last'));
  if (last !== undefined) return { last };
  const given = query.get('window');
  return { window: WINDOWS.find((name) => name === given) ?? '24h' };
}

/** The query parameters of a period, for `hrefWith`. Removes those of the other kind. */
export function periodChanges(period: Period): Record<'window' | 'last' | 'from' | 'to', string | undefined> {
  return { window: undefined, last: undefined, from: undefined, to: undefined, ...period };
}

/** The last 24 hours; 03 Mar 14:00 – 04 Mar 00:00. A period that began in another year names the years. */
export function periodWords(period: Period, nowMs = serviceTime()): string {
  if ('window' in period) return `the last ${WINDOW_WORDS[period.window]}`;
  if ('last' in period) return `the last ${period.last === '1h' ? 'hour' : LAST_WORDS[period.last]}`;
  const hasYear = isOfOtherYear(period.from, nowMs);
  return `${formatMinute(period.from, hasYear)} – ${formatMinute(period.to, hasYear)}`;
}

/** The query that is kept in links to the other pages of a project. */
export function periodQuery(query: URLSearchParams): string {
  const isGiven =
    query.has('window') ||
    query.has('last') ||
    (query.has('from') && Number.isNaN(Number(query.get('from'))));
  return isGiven ? `?${new URLSearchParams(periodFrom(query))}` : '';
}
