import { parsedJson } from '../json.ts';
import { PROBLEM_CHARACTERS_MAX } from '../limits.ts';
import { problemOf } from './post-event.ts';

/** An event of a batch that the service did not accept. */
export type Rejection = { code: string; problem: string };

const STATUS_MULTI = 207;

/**
 * The events that the service rejected in a batch that it accepted. Undefined for an unreadable 207: some events were rejected, but it is
 * unknown which. An unreadable 202 means that all were stored, as for single posts.
 */
export function rejectionsFrom({ status, text }: { status: number; text: string }): Rejection[] | undefined {
  const { rejected } = Object(parsedJson(text)) as { rejected?: unknown };
  if (Array.isArray(rejected)) return rejected.map(rejectionFrom);
  return status === STATUS_MULTI ? undefined : [];
}

function rejectionFrom(entry: unknown): Rejection {
  const { code } = Object(entry) as { code?: unknown };
  const bounded = (text: string): string => text.slice(0, PROBLEM_CHARACTERS_MAX);
  return { code: typeof code === 'string' ? bounded(code) : 'unknown', problem: bounded(problemOf(entry)) };
}
