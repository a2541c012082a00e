import { call } from '../../api/call.ts';
import type { UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { formatCompact, formatCost, formatCount } from '../../text/format.ts';
import { filtersFrom, filtersOf } from '../../app/filters.ts';
import { hrefWith, usePlace } from '../../app/location.ts';
import { type Period, periodWords } from '../../app/period.ts';
import { usePeriod } from '../../app/use-period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { inertText } from '../../text/inert-text.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlEvent } from '../../ui/curl-command.ts';
import { Icon } from '../../ui/icon.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';
import { isEmptySeries, usePrevious } from '../overview/use-previous.ts';
import { UsageChart } from './usage-chart.tsx';
import { UsageTiles } from './usage-tiles.tsx';

const NUMBERS = {
  Calls: ({ calls }: UsageCounts) => calls,
  Input: ({ input_tokens }: UsageCounts) => input_tokens,
  Cached: ({ cached_input_tokens }: UsageCounts) => cached_input_tokens,
  Output: ({ output_tokens }: UsageCounts) => output_tokens,
  Cost: ({ cost_usd }: UsageCounts) => cost_usd ?? -1,
};
/** What model calls have, too. */
const FILTERED = ['agent', 'user_id', 'session_id'] as const;
const REFRESH_MS = 60_000;
const EXAMPLE = { agent_name: 'my-agent', model: 'my-model', input_tokens: 900, output_tokens: 120 };

/** Tokens and cost of the language models, by model and by agent. */
export function UsagePage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const filters = filtersOf(filtersFrom(usePlace().query), FILTERED);
  const isFiltered = Object.keys(filters).length > 0;
  const { data, error, isLoading, reload } = useAnswer(
    call('GET /v1/projects/{id}/audit/llm-usage', {
      params: { id: projectId },
      query: { ...period, ...filters },
    }),
    { refreshMs: REFRESH_MS },
  );
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
          <UsageTable
            title="By model"
            of="Model"
            rows={data.by_model.map((row) => ({ ...row, name: row.model }))}
            totals={data.totals}
          />
          <UsageTable
            title="By agent"
            of="Agent"
            rows={data.by_agent.map((row) => ({ ...row, name: row.agent_name }))}
            totals={data.totals}
            hrefOf={(agent) =>
              placeWith(projectPath(projectId, 'decisions'), { ...period, ...filters, agent })
            }
            onlyHref={(agent) => hrefWith({ agent, 'not.agent': undefined })}
          />
        </>
      )}
    </>
  );
}

type UsageTableProps = {
  title: string;
  of: string;
  rows: (UsageCounts & { name: string })[];
  totals: UsageCounts;
  /** What a row opens. */
  hrefOf?: (name: string) => string;
  /** The page with this row alone: the models of an agent. */
  onlyHref?: (name: string) => string;
};

/** At first sorted by cost, or by tokens where no cost was reported. The bar shows the same number. */
function UsageTable({ title, of, rows, totals, hrefOf, onlyHref }: UsageTableProps) {
  const hasCost = (totals.cost_usd ?? 0) > 0;
  const sizeOf = (row: UsageCounts) => (hasCost ? (row.cost_usd ?? 0) : row.input_tokens + row.output_tokens);
  const whole = sizeOf(totals);
  const share = `Share of ${hasCost ? 'cost' : 'tokens'}`;
  const { sorted, column } = useSorted(
    rows,
    { [of]: (row) => row.name, [share]: sizeOf, ...NUMBERS },
    { first: `-${share}`, param: `order-${of.toLowerCase()}` },
  );
  const numbers = Object.keys(NUMBERS).map((label) => column(label, 'number'));
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <Table
        label={`Usage ${title.toLowerCase()}`}
        columns={[column(of), column(share, 'usage-share'), ...numbers]}
      >
        {sorted.map((row) => (
          <tr key={row.name}>
            <th scope="row" class="cell-long">
              {hrefOf === undefined ? (
                <Inert text={row.name} />
              ) : (
                <a href={hrefOf(row.name)}>
                  <Inert text={row.name} />
                </a>
              )}
              {onlyHref !== undefined && (
                <a
                  class="filter-to"
                  href={onlyHref(row.name)}
                  aria-label={`Only ${inertText(row.name)}`}
                  title="Only this one"
                >
                  <Icon name="filter" />
                </a>
              )}
            </th>
            <td class="usage-share">
              <span class="bar" aria-hidden="true">
                <span
                  class="bar-part fill-allow"
                  style={{ width: `${whole === 0 ? 0 : (sizeOf(row) / whole) * 100}%` }}
                />
              </span>
            </td>
            <td class="number">{formatCount(row.calls)}</td>
            <td class="number">{formatCompact(row.input_tokens)}</td>
            <td class="number">{formatCompact(row.cached_input_tokens)}</td>
            <td class="number">{formatCompact(row.output_tokens)}</td>
            <td class="number">{formatCost(row.cost_usd)}</td>
          </tr>
        ))}
      </Table>
    </section>
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
