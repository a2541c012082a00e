import { timeseriesOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import type { Filters } from '../../app/filters.ts';
import { hrefWith } from '../../app/location.ts';
import type { Period } from '../../app/period.ts';
import { useCharts } from '../../charts/use-charts.ts';
import { periodHref } from '../../ui/period-picker.tsx';

type HistogramProps = {
  projectId: string;
  period: Period;
  filters: Filters;
  path: string;
  refreshMs: number | undefined;
};

/** When the listed decisions occurred. A bar zooms in to its bucket. */
export function Histogram({ projectId, period, filters, path, refreshMs }: HistogramProps) {
  const charts = useCharts();
  const { data } = useAnswer(
    timeseriesOf(projectId, { ...period, ...filters }),
    refreshMs === undefined ? {} : { refreshMs },
  );
  return (
    <section class="panel histogram" aria-label="When they occurred">
      {data !== undefined && charts !== undefined && (
        <charts.OutcomesChart
          series={data}
          size="low"
          hrefOf={periodHref}
          outcomeHref={(outcome) => hrefWith({ outcome, 'not.outcome': undefined }, path)}
        />
      )}
    </section>
  );
}
