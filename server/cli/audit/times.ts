import { DAY_MS, MINUTE_MS } from '../../durations.ts';

/** A record enters the log within this time. */
export const SETTLE_MS = 10_000;
/** So far may the clock of the service be ahead of the verifier's. */
const AHEAD_MS = 10 * MINUTE_MS;
/** What records may be late, and what a project may be silent, before a gap in the log counts as missing. */
export const GRACE_MS = 7 * DAY_MS;

/** Whether what was received then need not be in a log that held at `latestMs` all that had settled. */
export function isTooNew(receivedMs: number, latestMs: number): boolean {
  return receivedMs + SETTLE_MS >= latestMs && receivedMs <= Date.now() + AHEAD_MS;
}

/** In milliseconds since the epoch; NaN for a text that is not a time in the form of `toISOString`. */
export function millisecondsOf(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) || new Date(ms).toISOString() !== time ? Number.NaN : ms;
}
