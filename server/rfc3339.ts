const PATTERN =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The usual form of a time, `2026-01-31T12:00:00.000Z`: the positions of its other characters. */
const COMMON_MARKS: [number, string][] = [4, 7, 10, 13, 16, 19, 23].map((at, index) => [
  at,
  '--T::.Z'[index] ?? '',
]);
const COMMON_LENGTH = 24;

/**
 * Milliseconds since the epoch of an RFC 3339 time (section 5.6) with a zone; digits beyond the millisecond are dropped. Undefined for
 * anything else, such as a day that does not exist or second 60.
 */
export function parseRfc3339(text: string): number | undefined {
  return commonTime(text) ?? parse(text);
}

/** Parses the common form by hand, ten times as fast. Undefined for any other form. */
function commonTime(text: string): number | undefined {
  if (text.length !== COMMON_LENGTH || COMMON_MARKS.some(([at, mark]) => text[at] !== mark)) return undefined;
  const [year, month, day] = [digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2)];
  const [hour, minute, second] = [digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)];
  // Date.UTC maps years before 100 to other years, and fields that are too large to a later time. A character that is not a digit results
  // in NaN.
  if (year < 100 || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59)
    return undefined;
  const ms = Date.UTC(year, month - 1, day, hour, minute, second, digits(text, 20, 3));
  const isInMonth = day <= 28 || new Date(ms).getUTCDate() === day;
  return isInMonth && !Number.isNaN(ms) ? ms : undefined;
}

/** NaN if one of them is not a digit. */
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
