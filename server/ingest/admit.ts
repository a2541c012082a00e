import { RequestError } from '../errors.ts';
import { ARGUMENTS_BYTES_MAX, HINT_BYTES_MAX, OCCURRED_AT_FUTURE_MS_MAX, RETENTION_MS } from '../limits.ts';
import { parseRfc3339 } from '../rfc3339.ts';
import type { DecisionEvent } from './decision-event.ts';

/** When the event occurred, in milliseconds since the epoch. Throws occurred_at_out_of_range (SPECIFICATION 4.1, step 3). */
export function admitTime(occurredAt: string, nowMs: number): number {
  const occurredAtMs = parseRfc3339(occurredAt) ?? Number.NaN;
  if (occurredAtMs - nowMs > OCCURRED_AT_FUTURE_MS_MAX)
    throw outOfRange(occurredAt, 'more than 5 minutes in the future', nowMs);
  if (!(nowMs - occurredAtMs <= RETENTION_MS)) throw outOfRange(occurredAt, 'older than 90 days', nowMs);
  return occurredAtMs;
}

function outOfRange(occurredAt: string, why: string, nowMs: number): RequestError {
  return new RequestError(
    'occurred_at_out_of_range',
    `occurred_at ${occurredAt} is ${why}; it is ${new Date(nowMs).toISOString()} here`,
    {
      errors: [{ path: '/occurred_at', message: `is ${why}` }],
    },
  );
}

/** Throws arguments_too_large or hint_too_large (SPECIFICATION 4.1, step 4). */
export function admitSizes({ arguments: args, hint }: Pick<DecisionEvent, 'arguments' | 'hint'>): void {
  if (Buffer.byteLength(args) > ARGUMENTS_BYTES_MAX)
    throw tooLarge('arguments_too_large', 'arguments', ARGUMENTS_BYTES_MAX);
  if (Buffer.byteLength(hint) > HINT_BYTES_MAX) throw tooLarge('hint_too_large', 'hint', HINT_BYTES_MAX);
}

function tooLarge(
  code: 'arguments_too_large' | 'hint_too_large',
  field: string,
  bytesMax: number,
): RequestError {
  return new RequestError(code, `${field} has more than ${bytesMax} bytes of JSON`, {
    errors: [{ path: `/${field}`, message: `must have at most ${bytesMax} bytes of JSON` }],
  });
}
