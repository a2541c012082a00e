import { type Query, queryInvalid } from '../http/query.ts';
import { OUTCOMES } from '../ingest/decision-event.ts';
import { parseCursor } from './cursor.ts';
import type { DecisionFilters, PageAsked } from './decisions.ts';

export const LIMIT = { fallback: 50, min: 1, max: 500 } as const;
export const OFFSET = { fallback: 0, min: 0, max: 10_000 } as const;
export const FILTER_NAMES = ['agent', 'role', 'outcome', 'tool', 'user_id', 'session_id'] as const;
export const PAGE_NAMES = ['limit', 'offset', 'cursor'] as const;

/** Throws query_invalid. */
export function parsePage(query: Query): PageAsked {
  const limit = query.integer('limit', LIMIT);
  const offset = query.integer('offset', OFFSET);
  const cursor = query.text('cursor');
  return { limit, offset, cursor: cursor === undefined ? undefined : parseCursor(cursor) };
}

/** Throws query_invalid. */
export function parseFilters(query: Query): DecisionFilters {
  for (const name of FILTER_NAMES) {
    if (query.text(name)?.includes('\0') === true)
      throw queryInvalid({ path: name, message: 'must be text without a NUL character, not one with it' });
  }
  const filter = (name: string) => query.text(name) ?? null;
  return {
    agent: filter('agent'),
    role: filter('role'),
    outcome: query.choice('outcome', OUTCOMES) ?? null,
    tool: filter('tool'),
    user_id: filter('user_id'),
    session_id: filter('session_id'),
  };
}
