import { serviceTime } from '../api/service-clock.ts';
import { clockMs, formatMs, isOfOtherYear, zoneName } from '../text/format.ts';
import { DAY_MS, HOUR_MS } from '../../../durations.ts';

/** The period of a chart (RFC 3339) and the length of its buckets. `endsNow`: its last bucket is still growing. */
export type Frame = { from: string; to: string; endsNow: boolean; bucketSeconds: number };

/** The part of a bucket that lies in the period, in milliseconds since the epoch. A growing bucket counts as whole. */
export function bucketSpan(startMs: number, { from, to, endsNow, bucketSeconds }: Frame): [number, number] {
  const endMs = startMs + bucketSeconds * 1000;
  return [Math.max(startMs, Date.parse(from)), endsNow ? endMs : Math.min(endMs, Date.parse(to))];
}

/**
 * The time range of a bucket, with its zone if the clocks change, and the year if the period began in another one. A growing bucket says
 * "so far".
 */
export function bucketLabel(start: string, frame: Frame, nowMs = serviceTime()): string {
  const hasYear = isOfOtherYear(frame.from, nowMs);
  const [fromMs, toMs] = bucketSpan(Date.parse(start), frame);
  const more = toMs > Date.parse(frame.to) ? ', so far' : '';
  const isDay = toMs - fromMs >= DAY_MS;
  // A UTC day is not a day in another time zone.
  if (isDay && clockMs(fromMs) % DAY_MS === 0) return `${formatMs(fromMs, 'weekday', hasYear)}${more}`;
  const changes = clockMs(toMs + HOUR_MS) - clockMs(fromMs - HOUR_MS) !== toMs - fromMs + 2 * HOUR_MS;
  const zone = changes ? ` ${zoneName(isoOf(fromMs), isoOf(toMs))}` : '';
  const end = isDay ? formatMs(toMs, 'weekdayMinute', hasYear) : formatMs(toMs, 'clock');
  return `${formatMs(fromMs, 'weekdayMinute', hasYear)}–${end}${zone}${more}`;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

/**
 * The ticks of the time axis: the hour, or the day if the bucket is the first of that day. If a year begins between them, the first day of
 * each year names it.
 */
export function tickLabels(startsMs: number[], bucketSeconds: number): string[] {
  const years = startsMs.map((ms) => formatMs(ms, 'year'));
  let named = years[0] === years.at(-1) ? years[0] : undefined;
  return startsMs.map((ms, at) => {
    if (clockMs(ms) % DAY_MS >= bucketSeconds * 1000) return formatMs(ms, 'clock');
    const hasYear = years[at] !== named;
    named = years[at];
    return formatMs(ms, 'day', hasYear);
  });
}
