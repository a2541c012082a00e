const TIME = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  weekday: 'short',
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const DAY = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'UTC',
  weekday: 'short',
  day: '2-digit',
  month: 'short',
});
const DAY_SECONDS = 86_400;

/** The time range of a bucket in UTC. The current bucket says "so far". */
export function bucketLabel(start: string, bucketSeconds: number, nowIso: string): string {
  const startMs = Date.parse(start);
  const endMs = startMs + bucketSeconds * 1000;
  const isOpen = endMs > Date.parse(nowIso) ? ', so far' : '';
  if (bucketSeconds >= DAY_SECONDS) return `${DAY.format(startMs)}${isOpen}`;
  const end = new Date(endMs).toISOString().slice(11, 16);
  return `${TIME.format(startMs)}–${end}${isOpen}`;
}

const TICK_DAY = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', day: '2-digit', month: 'short' });

/** A tick of the time axis: the hour, or the day at midnight. */
export function tickLabel(startSeconds: number, bucketSeconds: number): string {
  const isDay = bucketSeconds >= DAY_SECONDS || startSeconds % DAY_SECONDS === 0;
  if (isDay) return TICK_DAY.format(startSeconds * 1000);
  return new Date(startSeconds * 1000).toISOString().slice(11, 16);
}
