import { call } from '../../api/call.ts';
import type { UsageCounts } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { formatCompact, formatCost, formatCount, formatShare } from '../../text/format.ts';
import { periodWords } from '../../app/period.ts';
import { usePeriod } from '../../app/use-period.ts';
import { placeWith, projectPath } from '../../app/route.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlEvent } from '../../ui/curl-command.ts';
import { Inert } from '../../ui/inert.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { UsageChart } from './usage-chart.tsx';

const NUMBERS = ['Calls', 'Input', 'Cached', 'Output', 'Cost'].map((label) => [label, 'number'] as const);
const REFRESH_MS = 60_000;
const EXAMPLE = { agent_name: 'my-agent', model: 'my-model', input_tokens: 900, output_tokens: 120 };

/** Tokens and cost of the language models, by model and by agent. */
export function UsagePage({ projectId }: { projectId: string }) {
  const period = usePeriod();
  const { data, error, isLoading, reload } = useAnswer(
    call('GET /v1/projects/{id}/audit/llm-usage', { params: { id: projectId }, query: { ...period } }),
    { refreshMs: REFRESH_MS },
  );
  return (
    <>
      <PageHead title="Usage" hasPeriod />
      {error !== undefined && data === undefined && <ErrorState error={error} retry={reload} />}
      {isLoading && <Loading lines={8} />}
      {data?.totals.calls === 0 && <NoUsage words={periodWords(period)} />}
      {data !== undefined && data.totals.calls > 0 && (
        <>
          <UsageTiles totals={data.totals} />
          <UsageChart projectId={projectId} period={period} hasCost={(data.totals.cost_usd ?? 0) > 0} />
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
            hrefOf={(agent) => placeWith(projectPath(projectId, 'decisions'), { ...period, agent })}
          />
        </>
      )}
    </>
  );
}

function UsageTiles({ totals }: { totals: UsageCounts }) {
  const tokens = totals.input_tokens + totals.output_tokens;
  const tiles = [
    [
      'Cost',
      formatCost(totals.cost_usd),
      totals.cost_usd === null ? 'no call reported a cost' : 'as reported',
    ],
    [
      'Calls',
      formatCount(totals.calls),
      `${formatCompact(Math.round(tokens / totals.calls))} tokens per call`,
    ],
    [
      'Input tokens',
      formatCompact(totals.input_tokens),
      `${formatShare(totals.cached_input_tokens, totals.input_tokens)} from cache`,
    ],
    [
      'Output tokens',
      formatCompact(totals.output_tokens),
      `${formatCompact(totals.reasoning_tokens)} for reasoning`,
    ],
  ] as const;
  return (
    <div class="tiles">
      {tiles.map(([label, value, note]) => (
        <div key={label} class="tile tile-still">
          <span class="tile-label">{label}</span>
          <span class="tile-value">{value}</span>
          <span class="tile-note">{note}</span>
        </div>
      ))}
    </div>
  );
}

type UsageTableProps = {
  title: string;
  of: string;
  rows: (UsageCounts & { name: string })[];
  totals: UsageCounts;
  /** What a row opens. */
  hrefOf?: (name: string) => string;
};

/** Sorted by cost, or by tokens where no cost was reported. The bar shows the same number. */
function UsageTable({ title, of, rows, totals, hrefOf }: UsageTableProps) {
  const hasCost = (totals.cost_usd ?? 0) > 0;
  const sizeOf = (row: UsageCounts) => (hasCost ? (row.cost_usd ?? 0) : row.input_tokens + row.output_tokens);
  const whole = sizeOf(totals);
  const sorted = rows.toSorted((a, b) => sizeOf(b) - sizeOf(a));
  const share = [`Share of ${hasCost ? 'cost' : 'tokens'}`, 'usage-share'] as const;
  return (
    <section class="panel" aria-label={title}>
      <h2>{title}</h2>
      <Table label={`Usage ${title.toLowerCase()}`} columns={[of, share, ...NUMBERS]}>
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

function NoUsage({ words }: { words: string }) {
  return (
    <EmptyState title={`No model calls in ${words}`}>
      <p>Clients report model calls with emitLlm. To try it, set GATE_API_KEY and run:</p>
      <CodeBlock text={curlEvent('/v1/audit/llm-invocations', EXAMPLE)} label="Report a model call" />
    </EmptyState>
  );
}
