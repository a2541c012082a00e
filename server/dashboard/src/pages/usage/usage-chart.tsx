import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import type { Period } from '../../app/period.ts';
import { useCharts } from '../../charts/use-charts.ts';
import { formatCompact, formatCost } from '../../text/format.ts';
import { periodHref } from '../../ui/period-picker.tsx';
import { Loading } from '../../ui/states.tsx';

const REFRESH_MS = 60_000;
const COST_STEP_MIN = 0.01;

type UsageChartProps = { projectId: string; period: Period; filters: Filters; hasCost: boolean };

/** Cost over time, or tokens where no cost was reported. A bar zooms in to its bucket. */
export function UsageChart({ projectId, period, filters, hasCost }: UsageChartProps) {
  const charts = useCharts();
  const { data } = useAnswer(
    call('GET /v1/projects/{id}/audit/llm-usage/timeseries', {
      params: { id: projectId },
      query: { ...period, ...filters },
    }),
    { refreshMs: REFRESH_MS },
  );
  const title = hasCost ? 'Cost over time' : 'Tokens over time';
  const buckets = data?.buckets ?? [];
  const values = (of: 'cost_usd' | 'input_tokens' | 'output_tokens') => buckets.map((bucket) => bucket[of]);
  const series = hasCost
    ? [{ label: 'Cost', tone: 'allow', values: values('cost_usd') }]
    : [
        { label: 'Output tokens', tone: 'needs_approval', values: values('output_tokens') },
        { label: 'Input tokens', tone: 'allow', values: values('input_tokens') },
      ];
  return (
    <section class="panel chart-panel" aria-label={title}>
      <h2>{title}</h2>
      {data === undefined || charts === undefined ? (
        <Loading lines={6} />
      ) : (
        <charts.BucketChart
          label={title}
          starts={buckets.map(({ start }) => start)}
          bucketSeconds={data.bucket_seconds}
          to={data.to}
          series={series}
          format={hasCost ? formatCost : formatCompact}
          stepMin={hasCost ? COST_STEP_MIN : 1}
          hrefOf={periodHref}
        />
      )}
    </section>
  );
}
