import { auditOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { type Filters, filtersFrom } from '../../app/filters.ts';
import { hrefWith, usePeriod, usePlace } from '../../app/location.ts';
import { endsNow, type Period, periodWords } from '../../app/period.ts';
import { callsPath, placeWith, projectPath, type QueryValues, sessionPath } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlEvent } from '../../ui/curl-command.ts';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, Waiting } from '../../ui/states.tsx';
import { EarlierFailed } from '../overview/earlier-failed.tsx';
import { isEmptySeries, usePrevious } from '../overview/use-previous.ts';
import { UsageChart } from './usage-chart.tsx';
import { SortedUsage } from './usage-table.tsx';
import { TopUsage } from './top-usage.tsx';
import { UsageTiles } from './usage-tiles.tsx';

/** The fields that the sums can be filtered by. */
const FILTERED = ['agent', 'user_id', 'session_id'] as const;
const REFRESH_MS = 60_000;
const EXAMPLE = { agent_name: 'my-agent', model: 'my-model', input_tokens: 900, output_tokens: 120 };

/** Tokens and cost of the language models, by model, agent, user and session. */
export function UsagePage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const filters = filtersFrom(usePlace().query, FILTERED);
  const isFiltered = Object.keys(filters).length > 0;
  const asked = { projectId, period, filters };
  const usageOf = (wanted: Filters) => auditOf(projectId, 'llm-usage', { ...period, ...wanted });
  const usage = useAnswer(usageOf(filters), { refreshMs: REFRESH_MS });
  const { data } = usage;
  const callsHref = (only: QueryValues) =>
    placeWith(callsPath(projectId), { ...period, ...filters, ...only });
  const decisionsHref = (only: QueryValues) =>
    placeWith(projectPath(projectId, 'decisions'), { ...period, ...filters, ...only });
  const seriesOf = (query: Period) => auditOf(projectId, 'llm-usage/timeseries', { ...query, ...filters });
  const series = useAnswer(seriesOf(period), { refreshMs: REFRESH_MS });
  const compared = usePrevious(series.data, seriesOf);
  const isEmpty = compared.previous === undefined || isEmptySeries(compared.previous.series);
  const previous = isEmpty ? undefined : compared.previous;
  return (
    <>
      <PageHead title="Usage" hasPeriod />
      <FilterBar projectId={projectId} period={period} filters={filters} ofCalls={FILTERED} />
      <Waiting answer={usage} lines={8} />
      {data?.totals.calls === 0 && <NoUsage period={period} isFiltered={isFiltered} />}
      {data !== undefined && data.totals.calls > 0 && (
        <>
          <UsageTiles totals={data.totals} previous={previous} />
          <EarlierFailed answer={compared.failed} />
          <UsageChart series={series} previous={previous} hasCost={data.totals.cost_usd > 0} />
          <SortedUsage
            title="By model"
            of="Model"
            rows={data.by_model.map((row) => ({ ...row, name: row.model }))}
            totals={data.totals}
            hrefOf={(model) => callsHref({ model })}
          />
          <SortedUsage
            title="By agent"
            of="Agent"
            rows={data.by_agent.map((row) => ({ ...row, name: row.agent_name }))}
            totals={data.totals}
            hrefOf={(agent, model) => callsHref({ agent, model })}
            onlyHref={(agent) => hrefWith({ agent, 'not.agent': undefined })}
            decisionsHref={(agent) => decisionsHref({ agent })}
            modelsOf={(agent) => usageOf({ ...filters, agent: [agent] })}
          />
          <TopUsage
            {...asked}
            by="user_id"
            totals={data.totals}
            hrefOf={(user_id) => callsHref({ user_id })}
            decisionsHref={(user_id) => decisionsHref({ user_id })}
          />
          <TopUsage
            {...asked}
            by="session_id"
            totals={data.totals}
            hrefOf={(session_id) => callsHref({ session_id })}
            decisionsHref={(session_id) =>
              session_id === '' ? decisionsHref({ session_id }) : sessionPath(projectId, period, session_id)
            }
          />
        </>
      )}
    </>
  );
}

function NoUsage({ period, isFiltered }: { period: Period; isFiltered: boolean }) {
  return (
    <EmptyState title={`No model calls in ${periodWords(period)}${isFiltered ? ' match' : ''}`}>
      {!isFiltered && endsNow(period) && (
        <>
          <p>Clients report model calls with emitLlm. To try it, set GATE_API_KEY and run:</p>
          <CodeBlock text={curlEvent('/v1/audit/llm-invocations', EXAMPLE)} label="Report a model call" />
        </>
      )}
    </EmptyState>
  );
}
