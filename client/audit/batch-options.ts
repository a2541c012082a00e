import { ValueError } from '../errors.ts';
import { BATCH_DEFAULTS, BATCH_EVENTS_MAX, TIMER_MS_MAX } from '../limits.ts';

export type BatchOptions = {
  /** Events in one POST; default 100, at most 1,000. */
  maxEvents?: number | undefined;
  /** How long the first event of a batch waits for others, in milliseconds; default 50. */
  maxWaitMs?: number | undefined;
  /** How many events may wait; further events are dropped. Default 10,000. */
  maxPending?: number | undefined;
};

export type BatchLimits = Readonly<typeof BATCH_DEFAULTS>;

const RANGES: Record<keyof BatchLimits, [min: number, max: number]> = {
  maxEvents: [1, BATCH_EVENTS_MAX],
  maxWaitMs: [0, TIMER_MS_MAX],
  maxPending: [1, Number.MAX_SAFE_INTEGER],
};

/** The limits with their defaults, or undefined when every event is a POST of its own. Throws a ValueError. */
export function batchLimitsFrom(batch: boolean | BatchOptions | undefined): BatchLimits | undefined {
  if (batch === undefined || batch === null || batch === false) return undefined;
  if (batch === true) return BATCH_DEFAULTS;
  if (typeof batch !== 'object') throw new ValueError('batch must be true, false or an object');
  const unknown = Object.keys(batch).find((name) => !Object.hasOwn(RANGES, name));
  if (unknown !== undefined)
    throw new ValueError(`batch has no option ${unknown}; it has ${Object.keys(RANGES).join(', ')}`);
  const limitOf = (name: keyof BatchLimits): number => {
    const limit = batch[name] ?? BATCH_DEFAULTS[name];
    const [min, max] = RANGES[name];
    if (Number.isInteger(limit) && limit >= min && limit <= max) return limit;
    throw new ValueError(`batch.${name} must be a whole number from ${min} to ${max}`);
  };
  return {
    maxEvents: limitOf('maxEvents'),
    maxWaitMs: limitOf('maxWaitMs'),
    maxPending: limitOf('maxPending'),
  };
}
