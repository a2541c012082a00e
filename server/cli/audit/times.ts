import { DAY_MS, MINUTE_MS } from '../../durations.ts';

/** A record enters the log within this time. */
export const SETTLE_MS = 10_000;
/** How far the clock of the service may be ahead of the verifier's. */
const AHEAD_MS = 10 * MINUTE_MS;
/** How late records may be, and how long a project may be silent, before a gap in the log counts as missing. */
export const GRACE_MS = 7 * DAY_MS;

/** Whether a record received at a time may be absent from a log that held all settled records at `latestMs`. */
export function isTooNew(receivedMs: number, latestMs: number): boolean {
  return receivedMs + SETTLE_MS >= latestMs && receivedMs <= Date.now() + AHEAD_MS;
}

/** In milliseconds since the epoch; NaN for a text that is not a time in the form of `toISOString`. */
export function millisecondsOf(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== time ? Number.NaN : ms;
}
