import type { Timeseries } from '../api/types.ts';
import type { Period } from '../app/period.ts';
import { formatCompact, formatCount, formatShare, OUTCOME_LABELS } from '../text/format.ts';
import { BucketChart, type Series } from './bucket-chart.tsx';
import { shifted } from './scale.ts';

/** From the bottom up. Bars on the base line are the easiest to compare. */
const OUTCOMES = ['deny', 'needs_approval', 'allow'] as const;

/** An earlier period, its label in the legend, and how much later it is drawn. */
export type Previous<S = Timeseries> = { series: S; shiftMs: number; label: string };
type ChartProps = {
  series: Timeseries;
  previous?: Previous | undefined;
  size?: 'tall' | 'low';
  hrefOf: (period: Period) => string;
  /** The decisions of the whole period with this outcome. */
  outcomeHref?: (outcome: (typeof OUTCOMES)[number]) => string;
};

/** Outcomes over time as stacked bars. */
export function OutcomesChart({ series, previous, size = 'tall', hrefOf, outcomeHref }: ChartProps) {
  const { buckets } = series;
  const stacked = OUTCOMES.map((outcome): Series => ({
    label: OUTCOME_LABELS[outcome],
    tone: outcome,
    values: buckets.map((bucket) => bucket[outcome]),
    href: outcomeHref?.(outcome),
  }));
  return (
    <BucketChart
      {...timesOf(series)}
      label="Decisions"
      series={stacked}
      before={previous && { ...lineOf(previous), values: moved(previous, 'total', series) }}
      format={size === 'tall' ? formatCount : formatCompact}
      formatTick={formatCompact}
      size={size}
      hrefOf={hrefOf}
    />
  );
}

/** The share of denials over time as a line. */
export function DenialRateChart({ series, previous, hrefOf, outcomeHref }: ChartProps) {
  const rates = series.buckets.map(({ deny, total }) => rateOf(deny, total));
  const before = previous && moved(previous, 'total', series);
  const denied = previous && moved(previous, 'deny', series);
  return (
    <BucketChart
      {...timesOf(series)}
      label="Denial rate"
      kind="line"
      series={[{ label: 'Denied', tone: 'rate', values: rates, href: outcomeHref?.('deny') }]}
      before={
        previous && {
          ...lineOf(previous),
          values: before?.map((total, at) => rateOf(denied?.[at] ?? 0, total)) ?? [],
        }
      }
      format={(rate) => formatShare(rate, 1)}
      stepMin={0.005}
      hrefOf={hrefOf}
    />
  );
}

function timesOf({ buckets, bucket_seconds, from, to }: Timeseries) {
  return { starts: buckets.map(({ start }) => start), bucketSeconds: bucket_seconds, from, to };
}

function lineOf({ label }: Previous) {
  return { label, tone: 'before' };
}

function moved({ series, shiftMs }: Previous, of: 'total' | 'deny', onto: Timeseries): number[] {
  const values = series.buckets.map((bucket) => bucket[of]);
  return shifted(series, values, { onto, shiftMs }).map(Math.round);
}

function rateOf(deny: number, total: number): number | undefined {
  return total === 0 ? undefined : deny / total;
}
