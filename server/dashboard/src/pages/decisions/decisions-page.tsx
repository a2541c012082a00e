import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { FILTER_NAMES, type Filters, call, summaryOf } from '../../api/call.ts';
import { request } from '../../api/request.ts';
import { useAnswer, useRetry, useTimer } from '../../api/use-answer.ts';
import { hrefWith, navigate, usePlace } from '../../app/location.ts';
import { formatCount } from '../../text/format.ts';
import { FirstDecision } from '../../ui/first-decision.tsx';
import { PageHead, useWindow } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { DecisionDrawer } from './decision-drawer.tsx';
import { DecisionFeed, type FeedRow, type FeedState } from './decision-feed.ts';
import { DecisionList } from './decision-list.tsx';
import { ExportMenu } from './export-menu.tsx';
import { FilterBar } from './filter-bar.tsx';
import { LiveButton } from './live-button.tsx';

const LIVE_MS = 2000;
/** An empty project shows its first event at once. */
const EMPTY_MS = 1000;

export function DecisionsPage({ projectId }: { projectId: string }) {
  const window = useWindow();
  const { query } = usePlace();
  const filters = filtersFrom(query);
  const isLive = query.get('live') === '1';
  const eventId = query.get('event') ?? undefined;
  const shown = new URLSearchParams({ window, ...filters });
  const { feed, state } = useFeed(projectId, shown.toString());
  const facets = useAnswer(summaryOf(projectId, window));
  const { rows, total } = state;
  useTimer(total === 0 ? EMPTY_MS : isLive ? LIVE_MS : undefined, () => void feed.catchUp());
  // A list that has rows fetches a missing later page by itself.
  const retry = () => void (rows.length === 0 && !state.isAtEnd ? feed.loadMore() : feed.catchUp());
  useRetry(state.error, retry);

  const open = useCallback((row: FeedRow) => {
    navigate(hrefWith({ event: row.event_id, at: row.pageCursor }), {
      replace: location.search.includes('event='),
    });
  }, []);
  const close = () => navigate(hrefWith({ event: undefined, at: undefined }));
  return (
    <div class="decisions-page">
      <PageHead title={<DecisionsTitle total={total} />} hasWindow>
        <LiveButton isLive={isLive} />
        <ExportMenu projectId={projectId} query={shown} />
      </PageHead>
      <FilterBar filters={filters} summary={facets.data} />
      {state.error !== undefined && <ErrorState error={state.error} retry={retry} />}
      {total === 0 && (
        <EmptyState title="No decisions match">
          {Object.keys(filters).length > 0 ? (
            <p>
              <a href={hrefWith(Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined])))}>
                Clear filters
              </a>{' '}
              or choose a longer period.
            </p>
          ) : (
            <FirstDecision projectId={projectId} />
          )}
        </EmptyState>
      )}
      {rows.length === 0 && state.isLoading && <Loading lines={12} />}
      {rows.length > 0 && (
        <DecisionList state={state} selected={eventId} onOpen={open} onEnd={() => void feed.loadMore()} />
      )}
      {eventId !== undefined && (
        <DecisionDrawer
          key={eventId}
          feed={feed}
          eventId={eventId}
          pageCursor={query.get('at') ?? undefined}
          onClose={close}
        />
      )}
    </div>
  );
}

function DecisionsTitle({ total }: { total: number | undefined }) {
  return (
    <>
      Decisions{' '}
      {total !== undefined && (
        <span class="count" data-testid="total">
          {formatCount(total)}
        </span>
      )}
    </>
  );
}

function filtersFrom(query: URLSearchParams): Filters {
  const filters: Filters = {};
  for (const name of FILTER_NAMES) {
    const value = query.get(name);
    if (value !== null) filters[name] = value;
  }
  return filters;
}

/** One feed per query. */
function useFeed(projectId: string, queryText: string): { feed: DecisionFeed; state: FeedState } {
  const [, setRound] = useState(0);
  const feed = useMemo(() => {
    const fetchPage = (cursor: string | undefined, limit: number) => {
      const query = { ...Object.fromEntries(new URLSearchParams(queryText)), limit, cursor };
      return request(call('GET /v1/projects/{id}/audit/decisions', { params: { id: projectId }, query }));
    };
    return new DecisionFeed(fetchPage, () => setRound((count) => count + 1));
  }, [projectId, queryText]);
  useEffect(() => {
    void feed.loadMore();
    return () => feed.close();
  }, [feed]);
  return { feed, state: feed.state };
}
