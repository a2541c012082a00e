import { serviceTime } from './service-clock.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../durations.ts';

/** The relative periods in addition to the windows of the service. */
export const LAST_MS = {
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '6h': 6 * HOUR_MS,
  '12h': 12 * HOUR_MS,
  '3d': 3 * DAY_MS,
  '14d': 14 * DAY_MS,
} as const;
export type LastName = keyof typeof LAST_MS;
export const LASTS = Object.keys(LAST_MS) as LastName[];

/** The current minute is included. */
export function endOfMinute(nowMs = serviceTime()): number {
  return Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
}

/** RFC 3339 in UTC; `to` is exclusive. */
export function rangeOf(fromMs: number, toMs: number): { from: string; to: string } {
  return { from: instantText(fromMs), to: instantText(toMs) };
}

function instantText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The path of a call at a given time: the service does not know `last`, only from and to. */
export function datedPath(path: string, nowMs = serviceTime()): string {
  return path.replace(/(?<=[?&])last=(\w+)/, (_all, name: LastName) => {
    const toMs = endOfMinute(nowMs);
    return String(new URLSearchParams(rangeOf(toMs - LAST_MS[name], toMs)));
  });
}
