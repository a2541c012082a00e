import { useEffect, useMemo, useState } from 'preact/hooks';
import { auditOf } from '../../api/call.ts';
import { rangeOf } from '../../api/relative-period.ts';
import { request } from '../../api/request.ts';
import { useRetry, useTimer } from '../../api/use-answer.ts';
import { filtersFrom, NO_FILTERS } from '../../app/filters.ts';
import { hrefWith, navigate, usePlace } from '../../app/location.ts';
import { endsNow, type Period, periodFrom, periodWords } from '../../app/period.ts';
import { decisionPath, projectPath, type QueryValues } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { FirstDecision } from '../../ui/first-decision.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { ColumnsMenu, useColumns } from './decision-columns.tsx';
import { DecisionDrawer } from './decision-drawer.tsx';
import { DecisionFeed, type FeedState } from './decision-feed.ts';
import { DecisionList } from './decision-list.tsx';
import { ExportMenu } from './export-menu.tsx';
import { Histogram } from './histogram.tsx';
import { LiveButton } from './live-button.tsx';
import { SearchField } from './search-field.tsx';
import { SessionPanel, sessionOf } from './session-panel.tsx';
import { SessionTimeline } from './session-timeline.tsx';
import { ViewsMenu } from './views-menu.tsx';
import { RETENTION_MS } from '../../../../limits.ts';

const LIVE_MS = 2000;
const HISTOGRAM_LIVE_MS = 15_000;
/** An empty project shows its first event at once. */
const EMPTY_MS = 1000;

type DecisionsPageProps = { projectId: string; eventId?: string };

/** The list of decisions, with one of them in a drawer if the address names it. */
export function DecisionsPage({ projectId, eventId }: DecisionsPageProps) {
  const { query } = usePlace();
  const list = projectPath(projectId, 'decisions');
  useOldLink(projectId, query.get('event'));
  const period = periodFrom(query);
  const filters = filtersFrom(query);
  // The service refuses an empty one.
  const q = query.get('q') || undefined;
  const isFiltered = q !== undefined || Object.keys(filters).length > 0;
  const isLive = query.get('live') === '1' && endsNow(period);
  const selected = { ...filters, q };
  const shown = { ...period, ...selected };
  const { feed, state } = useFeed(projectId, period, selected);
  const { rows, total } = state;
  const columns = useColumns();
  const mayBegin = !isFiltered && endsNow(period);
  useTimer(total === 0 && mayBegin ? EMPTY_MS : isLive ? LIVE_MS : undefined, () => void feed.catchUp());
  // A list that has rows fetches a missing later page automatically.
  const retry = () => void (rows.length === 0 && !state.isAtEnd ? feed.loadMore() : feed.catchUp());
  useRetry(state.error, retry);
  const scope = { projectId, period, filters };
  const sessionId = sessionOf(filters);
  const session = sessionId === undefined ? undefined : { projectId, period, sessionId };
  // A timeline shows its whole session, so it is not shown with other filters.
  const isNarrowed = q !== undefined || Object.keys(filters).length > 1;
  const isTimeline = session !== undefined && !isNarrowed && query.get('view') === 'timeline';
  // A person who has lost access must no longer see anything.
  if (state.error?.status === 403 || state.error?.status === 401)
    return (
      <>
        <PageHead title="Decisions" />
        <ErrorState error={state.error} retry={retry} />
      </>
    );
  return (
    <div class="decisions-page">
      <PageHead title="Decisions" total={total} hasPeriod>
        {endsNow(period) && <LiveButton isLive={isLive} />}
        <ViewsMenu key={projectId} projectId={projectId} columns={columns} />
        <ColumnsMenu {...columns} />
        <ExportMenu projectId={projectId} query={shown} />
      </PageHead>
      <FilterBar {...scope} q={q} path={list} refreshMs={isLive ? HISTOGRAM_LIVE_MS : undefined}>
        <SearchField value={q} path={list} />
      </FilterBar>
      {session !== undefined && <SessionPanel {...session} isTimeline={isTimeline} isNarrowed={isNarrowed} />}
      {!isTimeline && (
        <Histogram
          projectId={projectId}
          asked={shown}
          path={list}
          refreshMs={isLive ? HISTOGRAM_LIVE_MS : undefined}
        />
      )}
      {state.error !== undefined && <ErrorState error={state.error} retry={retry} />}
      {total === 0 && !isTimeline && (
        <EmptyState title={isFiltered ? 'No decisions match' : `No decisions in ${periodWords(period)}`}>
          {mayBegin ? (
            <FirstDecision projectId={projectId} />
          ) : (
            <p>
              {isFiltered && <a href={hrefWith(NO_FILTERS, list)}>Clear filters</a>}
              {isFiltered ? ' or choose another period.' : 'Choose another period.'}
            </p>
          )}
        </EmptyState>
      )}
      {session !== undefined && isTimeline && <SessionTimeline {...session} />}
      {rows.length === 0 && state.isLoading && !isTimeline && <Loading lines={12} />}
      {rows.length > 0 && !isTimeline && (
        <DecisionList
          state={state}
          columns={columns.names}
          isOwn={columns.isOwn}
          selected={eventId}
          onOpen={({ event_id }) =>
            navigate(hrefWith({}, decisionPath(projectId, event_id)), {
              replace: eventId !== undefined,
              staysPut: true,
            })
          }
          onEnd={() => void feed.loadMore()}
        />
      )}
      {eventId !== undefined && (
        <DecisionDrawer
          projectId={projectId}
          feed={feed}
          among={{ projectId, query: selected }}
          eventId={eventId}
        />
      )}
    </div>
  );
}

/** Links of older releases named the record in a parameter. */
function useOldLink(projectId: string, eventId: string | null): void {
  useEffect(() => {
    if (eventId === null) return;
    const target = hrefWith({ event: undefined, at: undefined }, decisionPath(projectId, eventId));
    navigate(target, { replace: true });
  }, [projectId, eventId]);
}

/** One feed per query. */
function useFeed(
  projectId: string,
  period: Period,
  selected: QueryValues,
): { feed: DecisionFeed; state: FeedState } {
  const [, setRound] = useState(0);
  const queryText = JSON.stringify([period, selected]);
  const feed = useMemo(() => {
    const fetchPage = (cursor: string | undefined, limit: number) =>
      request(auditOf(projectId, 'decisions', { ...period, ...selected, limit, cursor }));
    const countBetween = async (after: string, until: string) => {
      const toMs = Date.parse(until) + 1;
      const range = rangeOf(Math.max(Date.parse(after) + 1, toMs - RETENTION_MS), toMs);
      const asked = auditOf(projectId, 'decisions', { ...selected, ...range, limit: 1 });
      return (await request(asked)).total;
    };
    return new DecisionFeed(fetchPage, countBetween, () => setRound((count) => count + 1));
  }, [projectId, queryText]);
  useEffect(() => {
    void feed.loadMore();
    return () => feed.close();
  }, [feed]);
  return { feed, state: feed.state };
}
