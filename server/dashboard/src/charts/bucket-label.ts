import { formatMs } from '../text/format.ts';

const DAY_SECONDS = 86_400;

/** The period of a chart (RFC 3339) and the length of its buckets. `endsNow`: its last bucket is still growing. */
export type Frame = { from: string; to: string; endsNow: boolean; bucketSeconds: number };

/** The part of a bucket that lies in the period, in milliseconds since the epoch. A growing bucket counts as whole. */
export function bucketSpan(startMs: number, { from, to, endsNow, bucketSeconds }: Frame): [number, number] {
  const endMs = startMs + bucketSeconds * 1000;
  return [Math.max(startMs, Date.parse(from)), endsNow ? endMs : Math.min(endMs, Date.parse(to))];
}

/** The time range of a bucket. A growing bucket says "so far". */
export function bucketLabel(start: string, frame: Frame): string {
  const [fromMs, toMs] = bucketSpan(Date.parse(start), frame);
  const more = toMs > Date.parse(frame.to) ? ', so far' : '';
  // A UTC day is not a day in another time zone.
  const isDay = toMs - fromMs >= DAY_SECONDS * 1000 && isMidnight(fromMs);
  if (isDay) return `${formatMs(fromMs, 'weekday')}${more}`;
  return `${formatMs(fromMs, 'weekdayMinute')}–${formatMs(toMs, 'clock')}${more}`;
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
