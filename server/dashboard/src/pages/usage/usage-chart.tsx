import type { UsageSeries } from '../../api/types.ts';
import type { Loaded } from '../../api/use-answer.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { shifted } from '../../charts/scale.ts';
import { useCharts } from '../../charts/use-charts.ts';
import { formatCompact, formatCompactCost, formatCost } from '../../text/format.ts';
import { periodHref } from '../../ui/period-picker.tsx';
import { Waiting } from '../../ui/states.tsx';

const COST_STEP_MIN = 0.01;

type UsageChartProps = {
  series: Loaded<'GET /v1/projects/{id}/audit/llm-usage/timeseries'>;
  previous: Previous<UsageSeries> | undefined;
  hasCost: boolean;
};

/** Cost over time, or tokens if no cost was reported, with the previous period as a line. A bar zooms in to its bucket. */
export function UsageChart({ series, previous, hasCost }: UsageChartProps) {
  const answer = useCharts(series);
  const { charts, data } = answer;
  const label = hasCost ? 'Cost' : 'Tokens';
  const title = `${label} over time`;
  return (
    <section class="panel chart-panel" aria-label={title}>
      <h2>{title}</h2>
      <Waiting answer={answer} lines={6} />
      {data !== undefined && charts !== undefined && (
        <charts.BucketChart
          label={label}
          starts={data.buckets.map(({ start }) => start)}
          bucketSeconds={data.bucket_seconds}
          from={data.from}
          to={data.to}
          series={seriesOf(data, hasCost)}
          before={previous && beforeOf(previous, { onto: data, hasCost })}
          format={hasCost ? formatCost : formatCompact}
          formatTick={hasCost ? (usd) => formatCompactCost(usd) : formatCompact}
          stepMin={hasCost ? COST_STEP_MIN : 1}
          hrefOf={periodHref}
        />
      )}
    </section>
  );
}

function seriesOf({ buckets }: UsageSeries, hasCost: boolean) {
  if (hasCost) return [{ label: 'Cost', tone: 'allow', values: buckets.map(({ cost_usd }) => cost_usd) }];
  return [
    {
      label: 'Output tokens',
      tone: 'needs_approval',
      values: buckets.map(({ output_tokens }) => output_tokens),
    },
    { label: 'Input tokens', tone: 'allow', values: buckets.map(({ input_tokens }) => input_tokens) },
  ];
}

type Onto = { onto: UsageSeries; hasCost: boolean };

function beforeOf({ series, shiftMs, label }: Previous<UsageSeries>, { onto, hasCost }: Onto) {
  const values = series.buckets.map((bucket) =>
    hasCost ? bucket.cost_usd : bucket.input_tokens + bucket.output_tokens,
  );
  return { label, tone: 'before', values: shifted(series, values, { onto, shiftMs }) };
}
