const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;

const MINUTE_MS = 60_000;

/** The time of an event is read by the check of its body and again where it counts. */
let last: { text: string; ms: number | undefined } = { text: '', ms: undefined };

/**
 * Milliseconds since the epoch of an RFC 3339 time (section 5.6) with a zone; digits beyond the millisecond are cut.
 * Undefined for anything else, a day that does not exist and a second 60 among it.
 */
export function parseRfc3339(text: string): number | undefined {
  if (text !== last.text) last = { text, ms: msOf(text) };
  return last.ms;
}

function msOf(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHour, zoneMinute] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return undefined;
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const local = date.setUTCHours(Number(hour), Number(minute), Number(second), ms);
  if (sign === undefined) return local;
  const offset = (Number(zoneHour) * 60 + Number(zoneMinute)) * MINUTE_MS;
  return sign === '+' ? local - offset : local + offset;
}
