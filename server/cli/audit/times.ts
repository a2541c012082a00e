import { DAY_MS } from '../../durations.ts';

/** A record enters the log within this time. */
export const SETTLE_MS = 10_000;
/** What records may be late, and what a project may be silent, before a gap in the log counts as missing. */
export const GRACE_MS = 7 * DAY_MS;
