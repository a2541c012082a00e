import { call } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { type Filters, filtersFrom, filtersOf } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import { type Period, periodWords } from '../../app/period.ts';
import { usePeriod } from '../../app/use-period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlEvent } from '../../ui/curl-command.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { isEmptySeries, usePrevious } from '../overview/use-previous.ts';
import { UsageChart } from './usage-chart.tsx';
import { SortedUsage } from './usage-table.tsx';
import { TopUsage } from './top-usage.tsx';
import { UsageTiles } from './usage-tiles.tsx';

/** What model calls have, too. */
const FILTERED = ['agent', 'user_id', 'session_id'] as const;
const REFRESH_MS = 60_000;
const EXAMPLE = { agent_name: 'my-agent', model: 'my-model', input_tokens: 900, output_tokens: 120 };

/** Tokens and cost of the language models, by model, agent, user and session. */
export function UsagePage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const filters = filtersOf(filtersFrom(usePlace().query), FILTERED);
  const isFiltered = Object.keys(filters).length > 0;
  const asked = { projectId, period, filters };
  const usageOf = (wanted: Filters) =>
    call('GET /v1/projects/{id}/audit/llm-usage', {
      params: { id: projectId },
      query: { ...period, ...wanted },
    });
  const { data, error, isLoading, reload } = useAnswer(usageOf(filters), { refreshMs: REFRESH_MS });
  const recordsHref = (only: Record<string, string>) =>
    placeWith(projectPath(projectId, 'decisions'), { ...period, ...filters, ...only });
  const seriesOf = (query: Period) =>
    call('GET /v1/projects/{id}/audit/llm-usage/timeseries', {
      params: { id: projectId },
      query: { ...query, ...filters },
    });
  const series = useAnswer(seriesOf(period), { refreshMs: REFRESH_MS }).data;
  const compared = usePrevious(series, seriesOf);
  const previous = compared === undefined || isEmptySeries(compared.series) ? undefined : compared;
  return (
    <>
      <PageHead title="Usage" hasPeriod />
      <FilterBar projectId={projectId} period={period} filters={filters} only={FILTERED} />
      {error !== undefined && data === undefined && <ErrorState error={error} retry={reload} />}
      {isLoading && <Loading lines={8} />}
      {data?.totals.calls === 0 && <NoUsage words={periodWords(period)} isFiltered={isFiltered} />}
      {data !== undefined && data.totals.calls > 0 && (
        <>
          <UsageTiles totals={data.totals} previous={previous} />
          <UsageChart data={series} previous={previous} hasCost={data.totals.cost_usd > 0} />
          <SortedUsage
            title="By model"
            of="Model"
            rows={data.by_model.map((row) => ({ ...row, name: row.model }))}
            totals={data.totals}
          />
          <SortedUsage
            title="By agent"
            of="Agent"
            rows={data.by_agent.map((row) => ({ ...row, name: row.agent_name }))}
            totals={data.totals}
            hrefOf={(agent) => recordsHref({ agent })}
            onlyHref={(agent) => hrefWith({ agent, 'not.agent': undefined })}
            modelsOf={(agent) => usageOf({ ...filters, agent: [agent] })}
          />
          <TopUsage
            {...asked}
            by="user_id"
            totals={data.totals}
            hrefOf={(user_id) => recordsHref({ user_id })}
          />
          <TopUsage
            {...asked}
            by="session_id"
            totals={data.totals}
            hrefOf={(session_id) => recordsHref({ session_id, ...(session_id && { view: 'timeline' }) })}
          />
        </>
      )}
    </>
  );
}

function NoUsage({ words, isFiltered }: { words: string; isFiltered: boolean }) {
  return (
    <EmptyState title={`No model calls in ${words}${isFiltered ? ' match' : ''}`}>
      {!isFiltered && (
        <>
          <p>Clients report model calls with emitLlm. To try it, set GATE_API_KEY and run:</p>
          <CodeBlock text={curlEvent('/v1/audit/llm-invocations', EXAMPLE)} label="Report a model call" />
        </>
      )}
    </EmptyState>
  );
}
