import type { Fault, RequestError } from '../errors.ts';
import { queryInvalid, quoted } from '../http/query.ts';

/** A position in a list that is newest first: everything after this record, in the order of the list. */
export type Cursor = { occurredAtMs: number; event_id: string };

const VERSION = 'v1';
const PATTERN = /^v1 (-?\d{1,15}) ([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;
/** The range of DateTime64: the years 1900 to 2299. */
const MS_MIN = -2_208_988_800_000;
export const MS_MAX = 10_413_791_999_999;

/** Opaque to callers, safe in a URL, and valid while records are added and removed. */
export function cursorText({ occurredAtMs, event_id }: Cursor): string {
  return Buffer.from(`${VERSION} ${occurredAtMs} ${event_id}`).toString('base64url');
}

/** For any text that is not a cursor, throws the error that `fail` returns; by default query_invalid. */
export function parseCursor(
  text: string,
  { path, fail }: { path: string; fail: (fault: Fault) => RequestError } = IN_QUERY,
): Cursor {
  const plain = Buffer.from(text, 'base64url').toString('latin1');
  const [, ms, event_id = ''] = PATTERN.exec(plain) ?? [];
  const cursor = { occurredAtMs: Number(ms), event_id };
  const isInRange = cursor.occurredAtMs >= MS_MIN && cursor.occurredAtMs <= MS_MAX;
  if (isInRange && cursorText(cursor) === text) return cursor;
  throw fail({ path, message: `must be the next_cursor of an answer, not ${quoted(text)}` });
}

const IN_QUERY = { path: 'cursor', fail: (fault: Fault) => queryInvalid(fault) };
