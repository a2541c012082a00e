const PATTERN =
  /^\d{4}-\d\d-\d\d[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/**
 * Milliseconds since the epoch of an RFC 3339 time (section 5.6) with a zone; digits beyond the millisecond are dropped.
 * Undefined for anything else, such as a day that does not exist or second 60.
 */
export function parseRfc3339(text: string): number | undefined {
  if (!PATTERN.test(text)) return undefined;
  // Date.parse misreads some fractions of more than nine digits.
  const ms = Date.parse(text.toUpperCase().replace(/(\.\d{3})\d+/, '$1'));
  if (Number.isNaN(ms)) return undefined;
  // Date.parse reads 30 February as 2 March.
  const date = text.slice(0, 10);
  return date.slice(8) <= '28' || new Date(date).toISOString().startsWith(date) ? ms : undefined;
}
