import { queryInvalid } from '../http/query.ts';
import { RETENTION_MS } from '../limits.ts';
import { parseRfc3339 } from '../rfc3339.ts';
import { clickhouseDay, clickhouseSeconds } from '../store/time.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';

/** The windows, with the bucket sizes of the time series. */
const WINDOWS = {
  '24h': { ms: DAY_MS, bucketSeconds: 3600 },
  '7d': { ms: 7 * DAY_MS, bucketSeconds: 21_600 },
  '30d': { ms: 30 * DAY_MS, bucketSeconds: 86_400 },
  '90d': { ms: 90 * DAY_MS, bucketSeconds: 86_400 },
} as const;

export const WINDOW_NAMES = Object.keys(WINDOWS) as WindowName[];
export type WindowName = keyof typeof WINDOWS;

/** The bucket sizes of a range: the smallest size that gives few enough buckets. */
export const BUCKET_SECONDS = [60, 300, 900, 3600, 21_600, 86_400] as const;
const BUCKETS_MAX = 200;
/** Later than every record: the end of ranges without an upper end. It is the start of a day. */
const NEVER_MS = Date.UTC(2100, 0, 1);
/** The range of times that RFC 3339 can express in UTC. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');
const WEEK_MS = 7 * DAY_MS;

/** The records with sinceMs <= occurred_at < beforeMs. */
export type ReadWindow = {
  /** Null for a range that the caller specified. */
  name: WindowName | null;
  /** As stated in the answer. */
  fromMs: number;
  toMs: number;
  /** Never earlier than the oldest living record. */
  sinceMs: number;
  /** Long after now for a window, which has no upper end. */
  beforeMs: number;
  /** The approximate time of its newest records. */
  newestMs: number;
  bucketSeconds: number;
};

type Asked = { window?: string | undefined; from?: string | undefined; to?: string | undefined };

/** The window or the range (RFC 3339) that a caller asks for; 24h without either. Throws window_invalid. */
export function readRange({ window, from, to }: Asked, nowMs: number): ReadWindow {
  if (from === undefined && to === undefined) return readWindow(window, nowMs);
  if (window !== undefined) throw windowInvalid('window', 'must not be given together with from and to');
  if (from === undefined) throw windowInvalid('from', 'is missing: to needs from');
  if (to === undefined) throw windowInvalid('to', 'is missing: from needs to');
  const [fromMs, toMs] = [from, to].map((text) => parseRfc3339(text) ?? Number.NaN) as [number, number];
  for (const [name, ms] of [
    ['from', fromMs],
    ['to', toMs],
  ] as const)
    if (ms < FIRST_MS || ms > LAST_MS)
      throw windowInvalid(name, 'must be a time in the years 0000 to 9999 in UTC');
  if (!(fromMs < toMs)) throw windowInvalid('to', 'must be later than from');
  if (toMs - fromMs > RETENTION_MS) throw windowInvalid('to', 'must be at most 90 days after from');
  return {
    name: null,
    fromMs,
    toMs,
    sinceMs: Math.max(fromMs, nowMs - RETENTION_MS),
    beforeMs: toMs,
    newestMs: Math.min(toMs - 1, nowMs),
    bucketSeconds: bucketSecondsOf(fromMs, toMs),
  };
}

/** Throws window_invalid. Absent means 24h. */
export function readWindow(text: string | undefined, nowMs: number): ReadWindow & { name: WindowName } {
  const name = WINDOW_NAMES.find((known) => known === (text ?? '24h'));
  if (name === undefined)
    throw windowInvalid('window', `must be one of ${WINDOW_NAMES.join(', ')}, not "${text}"`);
  const { ms, bucketSeconds } = WINDOWS[name];
  const fromMs = nowMs - ms;
  return { name, fromMs, toMs: nowMs, sinceMs: fromMs, beforeMs: NEVER_MS, newestMs: nowMs, bucketSeconds };
}

function bucketSecondsOf(fromMs: number, toMs: number): number {
  const bucketsOf = (ms: number) => Math.floor((toMs - 1) / ms) - Math.floor(fromMs / ms) + 1;
  return BUCKET_SECONDS.find((seconds) => bucketsOf(seconds * 1000) <= BUCKETS_MAX) ?? 86_400;
}

function windowInvalid(path: string, message: string) {
  return queryInvalid({ path, message }, 'window_invalid');
}

/** The whole days and the whole hours of a range, for the statements that read them from projections; null for none. */
type WholeParts = Record<'days_from' | 'days_until' | 'hours_from' | 'hours_until', string | null>;

export const NO_WHOLE_PARTS: WholeParts = {
  days_from: null,
  days_until: null,
  hours_from: null,
  hours_until: null,
};

/**
 * `bucketSeconds`: whole days and hours must not be longer. Whole days are used only for more than a week: the hours of a week are read
 * quickly, and planning another part of a statement takes longer (54 instead of 73 ms over 7 days of 10 million records).
 */
export function wholePartsOf({ sinceMs, beforeMs, toMs }: ReadWindow, bucketSeconds: number): WholeParts {
  const within = (unitMs: number) => ({
    fromMs: Math.ceil(sinceMs / unitMs) * unitMs,
    untilMs: Math.floor(beforeMs / unitMs) * unitMs,
  });
  const [hours, days] = [within(HOUR_MS), within(DAY_MS)];
  if (bucketSeconds * 1000 < HOUR_MS || hours.fromMs >= hours.untilMs) return NO_WHOLE_PARTS;
  const isByDay = bucketSeconds * 1000 >= DAY_MS && Math.min(days.untilMs, toMs) - days.fromMs > WEEK_MS;
  return {
    hours_from: clickhouseSeconds(hours.fromMs),
    hours_until: clickhouseSeconds(hours.untilMs),
    days_from: isByDay ? clickhouseDay(days.fromMs) : null,
    days_until: isByDay ? clickhouseDay(days.untilMs) : null,
  };
}
