import type { WindowName } from '../api/types.ts';
import { formatMinute } from '../text/format.ts';

export const WINDOWS: readonly WindowName[] = ['24h', '7d', '30d', '90d'];
export const WINDOW_WORDS: Record<WindowName, string> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

export const WINDOW_HOURS: Record<WindowName, number> = { '24h': 24, '7d': 168, '30d': 720, '90d': 2160 };

/** What is shown: a window that ends now, or what lies between two instants (RFC 3339, UTC; `to` is exclusive). */
export type Period = { window: WindowName } | { from: string; to: string };

/** The period of an address, 24 hours where it names none. */
export function periodFrom(query: URLSearchParams): Period {
  const [fromMs, toMs] = [Date.parse(query.get('from') ?? ''), Date.parse(query.get('to') ?? '')];
  if (fromMs < toMs) return rangeOf(fromMs, toMs);
  const given = query.get('window');
  return { window: WINDOWS.find((name) => name === given) ?? '24h' };
}

export function rangeOf(fromMs: number, toMs: number): { from: string; to: string } {
  return { from: instantText(fromMs), to: instantText(toMs) };
}

function instantText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The query parameters of a period, for `hrefWith`: those of the other kind go away. */
export function periodChanges(period: Period): Record<'window' | 'from' | 'to', string | undefined> {
  return { window: undefined, from: undefined, to: undefined, ...period };
}

/** The last 24 hours; 03 Mar 14:00 – 04 Mar 00:00 */
export function periodWords(period: Period): string {
  if ('window' in period) return `the last ${WINDOW_WORDS[period.window]}`;
  return `${formatMinute(period.from)} – ${formatMinute(period.to)}`;
}

/** What the links to the other pages of a project carry along. */
export function periodQuery(query: URLSearchParams): string {
  const isGiven = query.has('window') || (query.has('from') && Number.isNaN(Number(query.get('from'))));
  return isGiven ? `?${new URLSearchParams(periodFrom(query))}` : '';
}
