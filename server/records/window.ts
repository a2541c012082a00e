import { queryInvalid } from '../http/query.ts';
import { DAY_MS } from '../limits.ts';

/** The windows, with the bucket sizes of the time series. */
const WINDOWS = {
  '24h': { ms: DAY_MS, bucketSeconds: 3600 },
  '7d': { ms: 7 * DAY_MS, bucketSeconds: 21_600 },
  '30d': { ms: 30 * DAY_MS, bucketSeconds: 86_400 },
  '90d': { ms: 90 * DAY_MS, bucketSeconds: 86_400 },
} as const;

export const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[];
export type WindowName = keyof typeof WINDOWS;

/** A window as of now: records with occurred_at >= fromMs, with no upper end. */
export type ReadWindow = { name: WindowName; fromMs: number; toMs: number; bucketSeconds: number };

/**
 * The first day of a window, when its other days are worth a statement of their own in a read. Null for a window of a day:
 * its 24 hours are quickly read, and planning a statement takes longer.
 */
export function firstDayOf({ fromMs, toMs }: Pick<ReadWindow, 'fromMs' | 'toMs'>): string | null {
  return toMs - fromMs > DAY_MS ? new Date(fromMs).toISOString().slice(0, 10) : null;
}

/** Throws window_invalid. Absent means 24h. */
export function readWindow(text: string | undefined, nowMs: number): ReadWindow {
  const name = WINDOW_NAMES.find((known) => known === (text ?? '24h'));
  if (name === undefined) {
    const message = `must be one of ${WINDOW_NAMES.join(', ')}, not "${text}"`;
    throw queryInvalid({ path: 'window', message }, 'window_invalid');
  }
  const { ms, bucketSeconds } = WINDOWS[name];
  return { name, fromMs: nowMs - ms, toMs: nowMs, bucketSeconds };
}
