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

/** The buckets that end within the period of the series: in a line, a bucket that has just begun would look like a fall. */
export function finishedBuckets({ buckets, bucket_seconds, to }: Timeseries): Timeseries['buckets'] {
  return buckets.filter(({ start }) => Date.parse(start) + bucket_seconds * 1000 <= Date.parse(to));
}
