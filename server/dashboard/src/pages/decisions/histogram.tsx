import { auditOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { hrefWith } from '../../app/location.ts';
import type { QueryValues } from '../../app/route.ts';
import { useCharts } from '../../charts/use-charts.ts';
import { Notice } from '../../ui/notice.tsx';
import { periodHref } from '../../ui/period-picker.tsx';

type HistogramProps = {
  projectId: string;
  /** Period, filters and search of the list. */
  asked: QueryValues;
  path: string;
  refreshMs: number | undefined;
};

/** When the listed decisions occurred. A bar zooms in to its bucket. */
export function Histogram({ projectId, asked, path, refreshMs }: HistogramProps) {
  const answer = useAnswer(auditOf(projectId, 'timeseries', asked), { refreshMs });
  const { charts, data, error, reload } = useCharts(answer);
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
      {error !== undefined && (
        <Notice error={error} retry={reload}>
          <b>The chart could not be loaded.</b>
        </Notice>
      )}
    </section>
  );
}
