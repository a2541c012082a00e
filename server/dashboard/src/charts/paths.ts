/** The share of a bucket's width that its bar takes. */
const BAR_WIDTH = 0.8;

type Values = (number | undefined)[];

/** One bar per bucket, on top of `below`, which grows by it. A bucket is 1 wide; the chart is 1 high. */
export function barsPath(values: Values, { below, top }: { below: number[]; top: number }): string {
  return values
    .map((value = 0, at) => {
      const base = below[at] ?? 0;
      below[at] = base + value;
      if (value === 0) return '';
      return `M${round(at + (1 - BAR_WIDTH) / 2)} ${round(1 - base / top)}v${-round(value / top)}h${BAR_WIDTH}v${round(value / top)}z`;
    })
    .join('');
}

/** A line through the middles of the buckets, interrupted where there is no value. */
export function linePath(values: Values, top: number): string {
  return values
    .map((value, at) => {
      if (value === undefined) return '';
      const place = `${at + 0.5} ${round(1 - value / top)}`;
      // A value between two gaps is a short stroke.
      return values[at - 1] === undefined ? `M${place}h.01L${place}` : `L${place}`;
    })
    .join('');
}

function round(share: number): number {
  return Number(share.toFixed(5));
}
