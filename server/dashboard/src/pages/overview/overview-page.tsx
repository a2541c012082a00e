import { useEffect, useState } from 'preact/hooks';
import { auditOf } from '../../api/call.ts';
import type { Outcome, WindowName } from '../../api/types.ts';
import { type Loaded, useAnswer } from '../../api/use-answer.ts';
import { type Filters, filtersFrom, narrowed } from '../../app/filters.ts';
import { usePlace } from '../../app/location.ts';
import { endsNow, type Period, periodFrom, periodWords } from '../../app/period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import type { Previous } from '../../charts/time-series.tsx';
import { useCharts } from '../../charts/use-charts.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { FirstDecision } from '../../ui/first-decision.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Waiting } from '../../ui/states.tsx';
import { CompletenessPanel } from './completeness-panel.tsx';
import { LatestPanel } from './latest-panel.tsx';
import { EarlierFailed } from './earlier-failed.tsx';
import { NewPanel } from './new-panel.tsx';
import { isEmptySeries, usePrevious } from './use-previous.ts';
import { Tiles } from './tiles.tsx';
import { TopPanels } from './top-panels.tsx';

const REFRESH_MS = 15_000;
const REFRESH_LONG_MS = 60_000;
/** An empty project shows its first event at once. */
const REFRESH_EMPTY_MS = 1000;
/** A longer period to compare with: the agents that were active then. 90d has none, because records are kept for 90 days. */
const WIDER: Partial<Record<WindowName, WindowName>> = { '24h': '7d', '7d': '30d', '30d': '90d' };

/** The address of the decisions that a number counts: of this period, with the filters of the page and these. */
export type DecisionsHref = (changes: { period?: Period; filters?: Filters }) => string;

export function OverviewPage({ projectId }: { projectId: string }) {
  const { query } = usePlace();
  const period = periodFrom(query);
  const filters = filtersFrom(query);
  const isFiltered = Object.keys(filters).length > 0;
  const mayBegin = !isFiltered && endsNow(period);
  const asked = { ...period, ...filters };
  const [isEmpty, setIsEmpty] = useState(false);
  const isShort = 'window' in period ? period.window === '24h' : endsNow(period);
  const refreshMs = isEmpty && mayBegin ? REFRESH_EMPTY_MS : isShort ? REFRESH_MS : REFRESH_LONG_MS;
  const summary = useAnswer(auditOf(projectId, 'summary', asked), { refreshMs });
  useEffect(() => setIsEmpty(summary.data?.totals.total === 0), [summary.data]);
  const series = useAnswer(auditOf(projectId, 'timeseries', asked), { refreshMs });
  const { previous, failed } = usePrevious(series.data, (range) =>
    auditOf(projectId, 'timeseries', { ...range, ...filters }),
  );
  const wider = 'window' in period ? WIDER[period.window] : undefined;
  const widerSummary = useAnswer(
    wider === undefined ? undefined : auditOf(projectId, 'summary', { window: wider, ...filters }),
    { refreshMs: REFRESH_LONG_MS },
  );
  // Loaded after the totals and their comparison, which people read first.
  const [isRestDue, setIsRestDue] = useState(false);
  useEffect(
    () => setIsRestDue(!summary.isLoading && !series.isLoading),
    [summary.isLoading, series.isLoading],
  );
  const hrefOf: DecisionsHref = (changes) =>
    placeWith(projectPath(projectId, 'decisions'), {
      ...(changes.period ?? period),
      ...narrowed(filters, changes.filters ?? {}),
    });
  const panels = { projectId, period, filters, hrefOf };
  return (
    <>
      <PageHead title="Overview" hasPeriod />
      <FilterBar projectId={projectId} period={period} filters={filters} refreshMs={refreshMs} />
      {summary.error !== undefined ? (
        <ErrorState error={summary.error} retry={summary.reload} />
      ) : (
        <>
          <Tiles
            period={period}
            summary={summary.data}
            series={series.data}
            previous={previous}
            widerSummary={widerSummary.data}
            hrefOf={(outcome) => hrefOf(outcome === undefined ? {} : { filters: { outcome: [outcome] } })}
            agentsHref={placeWith(projectPath(projectId, 'agents'), asked)}
          />
          <EarlierFailed answer={failed} />
          {isEmpty ? (
            <EmptyState title={isFiltered ? 'No decisions match' : `No decisions in ${periodWords(period)}`}>
              {mayBegin && <FirstDecision projectId={projectId} />}
            </EmptyState>
          ) : (
            <>
              <Charts series={series} previous={hasDecisions(previous)} hrefOf={hrefOf} />
              {summary.data?.completeness && (
                <CompletenessPanel
                  projectId={projectId}
                  period={period}
                  completeness={summary.data.completeness}
                />
              )}
              {isRestDue && summary.data !== undefined && (
                <>
                  <TopPanels {...panels} summary={summary.data} />
                  <div class="panel-row">
                    <LatestPanel {...panels} outcome="deny" title="Latest denials" />
                    <LatestPanel {...panels} outcome="needs_approval" title="Latest needing approval" />
                  </div>
                  {series.data !== undefined && <NewPanel {...panels} series={series.data} />}
                </>
              )}
            </>
          )}
        </>
      )}
    </>
  );
}

/** A line of zeros would say nothing. */
function hasDecisions(previous: Previous | undefined): Previous | undefined {
  return previous === undefined || isEmptySeries(previous.series) ? undefined : previous;
}

type ChartsProps = {
  series: Loaded<'GET /v1/projects/{id}/audit/timeseries'>;
  previous: Previous | undefined;
  hrefOf: DecisionsHref;
};

function Charts({ series, previous, hrefOf }: ChartsProps) {
  const answer = useCharts(series);
  const { charts, data } = answer;
  const only = (outcome: Outcome, period?: Period) =>
    hrefOf({ filters: { outcome: [outcome] }, ...(period === undefined ? {} : { period }) });
  return (
    <div class="panel-row chart-row">
      <section class="panel chart-panel" aria-labelledby="over-time">
        <h2 id="over-time">Decisions over time</h2>
        {data !== undefined && charts !== undefined && (
          <charts.OutcomesChart
            series={data}
            previous={previous}
            hrefOf={(period) => hrefOf({ period })}
            outcomeHref={only}
          />
        )}
        <Waiting answer={answer} lines={6} />
      </section>
      <section class="panel chart-panel" aria-labelledby="denial-rate">
        <h2 id="denial-rate">Denial rate</h2>
        {data !== undefined && charts !== undefined && (
          <charts.DenialRateChart
            series={data}
            previous={previous}
            hrefOf={(period) => only('deny', period)}
            outcomeHref={only}
          />
        )}
        <Waiting answer={answer} lines={6} />
      </section>
    </div>
  );
}
