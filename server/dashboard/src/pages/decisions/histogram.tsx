import { timeseriesOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { hrefWith } from '../../app/location.ts';
import { useCharts } from '../../charts/use-charts.ts';
import { periodHref } from '../../ui/period-picker.tsx';

type HistogramProps = {
  projectId: string;
  /** Period, filters and search of the list. */
  asked: Record<string, string | readonly string[]>;
  path: string;
  refreshMs: number | undefined;
};

/** When the listed decisions occurred. A bar zooms in to its bucket. */
export function Histogram({ projectId, asked, path, refreshMs }: HistogramProps) {
  const charts = useCharts();
  const { data } = useAnswer(timeseriesOf(projectId, asked), refreshMs === undefined ? {} : { refreshMs });
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
