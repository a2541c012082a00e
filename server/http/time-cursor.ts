import { queryInvalid } from './query.ts';

/** A position in a list that is newest first: everything after the row with this time (RFC 3339) and id. */
export type TimeCursor = { at: string; id: string };

/** Sorts before every row: later than any time that the store can hold. */
const NEWEST: TimeCursor = { at: '2200-01-01T00:00:00.000Z', id: '' };
const PATTERN = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f-]{36})$/;

/** Without a text, the beginning of the list. Throws query_invalid. */
export function parseTimeCursor(text: string | undefined): TimeCursor {
  if (text === undefined) return NEWEST;
  const [, at = '', id = ''] = PATTERN.exec(text) ?? [];
  const time = new Date(at);
  // JavaScript takes 30 February for 2 March.
  if (Number.isNaN(time.getTime()) || time.toISOString() !== at)
    throw queryInvalid({ path: 'cursor', message: 'must be a next_cursor of this endpoint' });
  return { at, id };
}

/** The cursor after a page, null if it is the last one: `found` has no row beyond its limit. */
export function nextTimeCursor<Item extends { id: string }>(
  found: Item[],
  limit: number,
  timeOf: (item: Item) => string,
): string | null {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return last === undefined ? null : `${timeOf(last)}_${last.id}`;
}
