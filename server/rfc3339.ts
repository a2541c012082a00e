const PATTERN =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The date of the last common time, and its midnight. Most times are of today. */
let day = { date: 'none', ms: 0 };

/**
 * Milliseconds since the epoch of an RFC 3339 time (section 5.6) with a zone; digits beyond the millisecond are dropped.
 * Undefined for anything else, such as a day that does not exist or second 60.
 */
export function parseRfc3339(text: string): number | undefined {
  const isCommon = COMMON_LENGTH === text.length && text.endsWith('Z');
  if (isCommon && text.startsWith(day.date)) {
    const ms = timeOfDay(text);
    if (ms !== undefined) return day.ms + ms;
  }
  const ms = parse(text);
  if (isCommon && ms !== undefined) {
    const date = text.slice(0, 10);
    day = { date, ms: Date.parse(date) };
  }
  return ms;
}

/** As most senders write a time: `2026-01-31T12:00:00.000Z`. */
const COMMON_LENGTH = 24;
const [COLON, DOT, UPPER_T] = [0x3a, 0x2e, 0x54];

/** Reads a common time by hand, in a tenth of the time. Undefined for anything unusual. */
function timeOfDay(text: string): number | undefined {
  if (text.charCodeAt(10) !== UPPER_T || text.charCodeAt(19) !== DOT) return undefined;
  if (text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return undefined;
  const [hours, minutes, seconds] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)];
  const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + digits(text, 20, 3);
  return hours < 24 && minutes < 60 && seconds < 60 && ms >= 0 ? ms : undefined;
}

/** NaN when one of them is no digit. */
function digits(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    value = digit >= 0 && digit <= 9 ? value * 10 + digit : Number.NaN;
  }
  return value;
}

function parse(text: string): number | undefined {
  if (!PATTERN.test(text)) return undefined;
  // Date.parse misreads some fractions of more than nine digits.
  const ms = Date.parse(text.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
  if (Number.isNaN(ms)) return undefined;
  // Date.parse reads 30 February as 2 March.
  const date = text.slice(0, 10);
  return date.slice(8) <= '28' || new Date(date).toISOString().startsWith(date) ? ms : undefined;
}
