/** A record enters the log within this time. */
export const SETTLE_MS = 10_000;
export const DAY_MS = 86_400_000;
/** A record expires so long after it occurred. */
export const RETENTION_MS = 90 * DAY_MS;
/** What records may be late, and what a project may be silent, before a gap in the log counts as missing. */
export const GRACE_MS = 7 * DAY_MS;
