import { PROBLEM_CHARACTERS_MAX } from '../limits.ts';
import { problemOf } from './post-event.ts';

/** An event of a batch that the service did not take. */
export type Rejection = { code: string; problem: string };

const STATUS_MULTI = 207;

/**
 * What the service rejected of a batch that it answered with 2xx. Undefined for a 207 that cannot be read: some events were
 * rejected, and nobody knows which. Any other 2xx that cannot be read means that all were stored, as for single posts.
 */
export function rejectionsFrom({ status, text }: { status: number; text: string }): Rejection[] | undefined {
  const rejected = rejectedOf(text);
  if (rejected !== undefined) return rejected.map(rejectionFrom);
  return status === STATUS_MULTI ? undefined : [];
}

function rejectedOf(text: string): unknown[] | undefined {
  try {
    const { rejected } = JSON.parse(text) as { rejected?: unknown };
    return Array.isArray(rejected) ? rejected : undefined;
  } catch {
    return undefined;
  }
}

function rejectionFrom(entry: unknown): Rejection {
  const { code } = Object(entry) as { code?: unknown };
  const bounded = (text: string): string => text.slice(0, PROBLEM_CHARACTERS_MAX);
  return { code: typeof code === 'string' ? bounded(code) : 'unknown', problem: bounded(problemOf(entry)) };
}
