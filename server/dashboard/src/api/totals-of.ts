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
