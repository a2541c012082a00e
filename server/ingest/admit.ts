import { RequestError } from '../errors.ts';
import { ARGUMENTS_BYTES_MAX, HINT_BYTES_MAX, OCCURRED_AT_FUTURE_MS_MAX, RETENTION_MS } from '../limits.ts';
import type { DecisionEvent } from './decision-event.ts';
import type { Event } from './event.ts';

/** Throws occurred_at_out_of_range. */
export function admitTime(event: Pick<Event, 'occurred_at' | 'occurredAtMs'>, nowMs: number): void {
  const aheadMs = event.occurredAtMs - nowMs;
  if (aheadMs > OCCURRED_AT_FUTURE_MS_MAX) throw outOfRange('more than 5 minutes in the future');
  if (aheadMs < -RETENTION_MS) throw outOfRange('older than 90 days');

  function outOfRange(why: string): RequestError {
    return new RequestError(
      'occurred_at_out_of_range',
      `occurred_at ${event.occurred_at} is ${why}; the server's time is ${new Date(nowMs).toISOString()}`,
      { errors: [{ path: '/occurred_at', message: `is ${why}` }] },
    );
  }
}

/** Throws arguments_too_large or hint_too_large. */
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
