import { useEffect, useState } from 'preact/hooks';
import { projectPath } from '../../app/route.ts';
import { summaryOf, timeseriesOf } from '../../api/call.ts';
import { type Loaded, useAnswer } from '../../api/use-answer.ts';
import { TimeSeriesChart } from '../../charts/time-series.tsx';
import { PageHead, useWindow, WINDOW_WORDS } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { FirstDecision } from '../../ui/first-decision.tsx';
import { CompletenessPanel } from './completeness-panel.tsx';
import { LatestPanel } from './latest-panel.tsx';
import { Tiles } from './tiles.tsx';
import { TopPanels } from './top-panels.tsx';
import { WIDER } from './window-before.ts';

const REFRESH_MS = 15_000;
const REFRESH_LONG_MS = 60_000;
/** An empty project shows its first event at once. */
const REFRESH_EMPTY_MS = 1000;

export function OverviewPage({ projectId }: { projectId: string }) {
  const window = useWindow();
  const [isEmpty, setIsEmpty] = useState(false);
  const refreshMs = isEmpty ? REFRESH_EMPTY_MS : window === '24h' ? REFRESH_MS : REFRESH_LONG_MS;
  const summary = useAnswer(summaryOf(projectId, window), { refreshMs });
  useEffect(() => setIsEmpty(summary.data?.totals.total === 0), [summary.data]);
  const series = useAnswer(timeseriesOf(projectId, window), { refreshMs });
  const widerWindow = WIDER[window];
  const wider = useAnswer(widerWindow === undefined ? undefined : timeseriesOf(projectId, widerWindow), {
    refreshMs: REFRESH_LONG_MS,
  });
  const widerSummary = useAnswer(widerWindow === undefined ? undefined : summaryOf(projectId, widerWindow), {
    refreshMs: REFRESH_LONG_MS,
  });
  return (
    <>
      <PageHead title="Overview" hasWindow />
      {summary.error !== undefined && summary.data === undefined ? (
        <ErrorState error={summary.error} retry={summary.reload} />
      ) : (
        <>
          <Tiles
            window={window}
            summary={summary.data}
            series={series.data}
            wider={wider.data}
            widerSummary={widerSummary.data}
            decisionsHref={projectPath(projectId, 'decisions')}
          />
          {isEmpty ? (
            <EmptyState title={`No decisions in the last ${WINDOW_WORDS[window]}`}>
              <FirstDecision projectId={projectId} />
            </EmptyState>
          ) : (
            <>
              <section class="panel" aria-labelledby="over-time">
                <h2 id="over-time">Decisions over time</h2>
                <SeriesBody answer={series} />
              </section>
              {summary.data?.completeness && (
                <CompletenessPanel
                  projectId={projectId}
                  window={window}
                  completeness={summary.data.completeness}
                />
              )}
              <TopPanels projectId={projectId} window={window} summary={summary.data} />
              <div class="panel-row">
                <LatestPanel projectId={projectId} window={window} outcome="deny" title="Latest denials" />
                <LatestPanel
                  projectId={projectId}
                  window={window}
                  outcome="needs_approval"
                  title="Latest that needed approval"
                />
              </div>
            </>
          )}
        </>
      )}
    </>
  );
}

function SeriesBody({ answer }: { answer: Loaded<'GET /v1/projects/{id}/audit/timeseries'> }) {
  if (answer.data !== undefined) return <TimeSeriesChart series={answer.data} />;
  if (answer.error !== undefined) return <ErrorState error={answer.error} retry={answer.reload} />;
  return <Loading lines={6} />;
}
