import { serviceTime } from './service-clock.ts';
import type { OutcomeCounts, Timeseries } from './types.ts';

/** The totals of a series. */
export function totalsOf({ buckets }: Timeseries): OutcomeCounts {
  const sum = (of: keyof OutcomeCounts) => buckets.reduce((total, bucket) => total + bucket[of], 0);
  return {
    total: sum('total'),
    allow: sum('allow'),
    deny: sum('deny'),
    needs_approval: sum('needs_approval'),
  };
}

/** The finished buckets: in a line, a bucket that has just begun would look like a drop. */
export function finishedBuckets({ buckets, bucket_seconds, to }: Timeseries): Timeseries['buckets'] {
  return buckets.filter(({ start }) => isFinished(start, bucket_seconds, to));
}

/** Whether a bucket of a period that ends at `to` is finished. */
export function isFinished(start: string, bucketSeconds: number, to: string): boolean {
  return Date.parse(start) + bucketSeconds * 1000 <= Math.min(Date.parse(to), serviceTime());
}
