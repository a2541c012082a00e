import { clockMs } from '../text/format.ts';

const TICKS_MAX = 4;
const LABELS_MAX = 8;
const [HOUR, DAY] = [3600, 86_400];
/** Round distances between the labels of the time axis, in seconds. */
const LABEL_SECONDS = [
  60,
  300,
  900,
  1800,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  5 * DAY,
  14 * DAY,
];

/** Round ticks from 0 to a little over `max`, multiples of `stepMin`; the last one is the top of the chart. */
export function ticksOf(max: number, stepMin: number): number[] {
  const wanted = Math.max(max, stepMin) / TICKS_MAX;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power);
  const step = steps.find((each) => each >= wanted && isMultiple(each, stepMin)) ?? stepMin;
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

/** Corrects the error of binary fractions. */
function isMultiple(value: number, of: number): boolean {
  return Number.isInteger(Number((value / of).toFixed(3)));
}

/** The indexes of the buckets whose start is labelled below the chart: few, beginning with round times of the shown clock. */
export function labelledBuckets(startsMs: number[], bucketSeconds: number): number[] {
  const seconds = startsMs.length * bucketSeconds;
  const step =
    LABEL_SECONDS.find((each) => each >= bucketSeconds && seconds / each <= LABELS_MAX) ?? 30 * DAY;
  return startsMs.flatMap((ms, index) => ((clockMs(ms) / 1000) % step < bucketSeconds ? [index] : []));
}

type Bucketed = { bucket_seconds: number; buckets: { start: string }[] };

/**
 * Maps the values of an earlier period to the buckets of this one, `shiftMs` later, up to the last bucket that it reaches. A bucket that
 * crosses an edge counts proportionally.
 */
export function shifted(
  { bucket_seconds, buckets }: Bucketed,
  values: number[],
  { onto, shiftMs }: { onto: Bucketed; shiftMs: number },
): number[] {
  const sums: number[] = [];
  const [first] = onto.buckets;
  if (first === undefined) return sums;
  const ontoMs = onto.bucket_seconds * 1000;
  const firstMs = Date.parse(first.start);
  buckets.forEach(({ start }, index) => {
    const from = (Date.parse(start) + shiftMs - firstMs) / ontoMs;
    const to = from + (bucket_seconds * 1000) / ontoMs;
    for (let at = Math.max(0, Math.floor(from)); at < Math.min(to, onto.buckets.length); at += 1) {
      const share = (Math.min(to, at + 1) - Math.max(from, at)) / (to - from);
      sums[at] = (sums[at] ?? 0) + (values[index] ?? 0) * share;
    }
  });
  return sums;
}
