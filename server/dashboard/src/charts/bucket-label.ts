import { formatMs } from '../text/format.ts';

const DAY_SECONDS = 86_400;

/** The time range of a bucket. The current bucket says "so far". */
export function bucketLabel(start: string, bucketSeconds: number, nowIso: string): string {
  const startMs = Date.parse(start);
  const endMs = startMs + bucketSeconds * 1000;
  const isOpen = endMs > Date.parse(nowIso) ? ', so far' : '';
  // A UTC day is not a day in another time zone.
  if (bucketSeconds >= DAY_SECONDS && isMidnight(startMs)) return `${formatMs(startMs, 'weekday')}${isOpen}`;
  return `${formatMs(startMs, 'weekdayMinute')}–${formatMs(endMs, 'clock')}${isOpen}`;
}

/** A tick of the time axis: the hour, or the day at midnight. */
export function tickLabel(startSeconds: number, bucketSeconds: number): string {
  const startMs = startSeconds * 1000;
  const isDay = bucketSeconds >= DAY_SECONDS || isMidnight(startMs);
  return formatMs(startMs, isDay ? 'day' : 'clock');
}

function isMidnight(ms: number): boolean {
  return formatMs(ms, 'clock') === '00:00';
}
