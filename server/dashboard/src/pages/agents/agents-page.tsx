import { auditOf, call } from '../../api/call.ts';
import type { AgentSummary, OutcomeCounts, Summary } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { filtersFrom } from '../../app/filters.ts';
import { usePlace } from '../../app/location.ts';
import { periodFrom } from '../../app/period.ts';
import { agentPath, projectPath } from '../../app/route.ts';
import { FilterBar } from '../../filters/filter-bar.tsx';
import { formatCount, formatDate, formatShare, zoneName } from '../../text/format.ts';
import { shellQuoted } from '../../text/shell-quoted.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlCommand } from '../../ui/curl-command.ts';
import { Inert } from '../../ui/inert.tsx';
import { Notice } from '../../ui/notice.tsx';
import { PageHead } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { useSorted } from '../../ui/use-sorted.ts';

const SORTS = {
  Agent: ({ name }: Row) => name,
  Policy: ({ agent }: Row) => agent?.version ?? -1,
  Tools: ({ agent }: Row) => agent?.tools.length ?? -1,
  Decisions: ({ counts }: Row) => counts?.total ?? -1,
  Denied: ({ counts }: Row) => (counts === undefined ? -1 : counts.deny / Math.max(1, counts.total)),
  'Needs approval': ({ counts }: Row) => counts?.needs_approval ?? -1,
};
/** When the policy was saved. */
const saved = ({ agent }: Row) => agent?.created_at ?? '';
const EXAMPLE = {
  name: 'my-agent',
  tools: ['search', { name: 'refund', annotations: { destructiveHint: true } }],
};

const NONE: OutcomeCounts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

/** `counts` is undefined if they are not known. */
type Row = { name: string; agent: AgentSummary | undefined; counts: OutcomeCounts | undefined };

/** Registered agents, and agents that only recorded decisions. With filters, only those that have matching decisions. */
export function AgentsPage({ projectId }: { projectId: string }) {
  const { query } = usePlace();
  const period = periodFrom(query);
  const filters = filtersFrom(query);
  const isFiltered = Object.keys(filters).length > 0;
  const agents = useAnswer(call('GET /v1/projects/{id}/agents', { id: projectId }));
  const summary = useAnswer(auditOf(projectId, 'summary', { ...period, ...filters }));
  // Wait for both: rows sorted by their numbers would move if the numbers arrived later.
  const isLoading = agents.isLoading || summary.isLoading;
  const all = agents.data === undefined || isLoading ? undefined : rowsOf(agents.data.items, summary.data);
  const rows = isFiltered ? all?.filter(({ counts }) => counts?.total !== 0) : all;
  const left = summary.data?.others.by_agent?.entries ?? 0;
  return (
    <>
      <PageHead title="Agents" hasPeriod />
      <FilterBar projectId={projectId} period={period} filters={filters} />
      {agents.error !== undefined && <ErrorState error={agents.error} retry={agents.reload} />}
      {summary.error !== undefined && agents.error === undefined && (
        <Notice error={summary.error} retry={summary.reload}>
          <b>The decisions could not be counted.</b>
        </Notice>
      )}
      {isLoading && agents.error === undefined && <Loading lines={8} />}
      {rows?.length === 0 &&
        (isFiltered ? <EmptyState title="No agents match" /> : <NoAgents projectId={projectId} />)}
      {rows !== undefined && rows.length > 0 && (
        <div class="panel">
          <AgentTable rows={rows} projectId={projectId} />
          {left > 0 && (
            <p class="panel-foot muted">
              The {formatCount(summary.data?.by_agent.length ?? 0)} agents with the most decisions are
              counted, {left === 1 ? '1 other is not' : `${formatCount(left)} others are not`}.
            </p>
          )}
        </div>
      )}
    </>
  );
}

function AgentTable({ rows, projectId }: { rows: Row[]; projectId: string }) {
  const savedLabel = `Policy saved (${zoneName(...rows.map(saved))})`;
  const { sorted, column } = useSorted(rows, { ...SORTS, 'Policy saved': saved }, { first: '-Decisions' });
  const columns = Object.keys(SORTS).map((label, index) => column(label, index < 2 ? '' : 'number'));
  return (
    <Table label="Agents" columns={[...columns, column('Policy saved', '', savedLabel)]}>
      {sorted.map((row) => (
        <AgentRow key={row.name} row={row} projectId={projectId} />
      ))}
    </Table>
  );
}

function AgentRow({ row: { name, agent, counts }, projectId }: { row: Row; projectId: string }) {
  return (
    <tr>
      <th scope="row" class="cell-long">
        <a href={agentPath(projectId, name)}>
          <Inert text={name} />
        </a>
      </th>
      <td>
        {agent === undefined ? (
          <span
            class="tag tag-warn"
            title="This agent records decisions but was never registered, so it has no policy here"
          >
            not registered
          </span>
        ) : (
          <>
            <span class="tag">v{agent.version}</span>{' '}
            {agent.bundle === 'absent' && (
              <span class="tag tag-warn" title="The policy is too large for a bundle; clients use its YAML">
                no bundle
              </span>
            )}
          </>
        )}
      </td>
      <td class="number">{agent === undefined ? '–' : formatCount(agent.tools.length)}</td>
      <td class="number">{counts === undefined ? '–' : formatCount(counts.total)}</td>
      <td class="number">{counts === undefined ? '–' : formatShare(counts.deny, counts.total)}</td>
      <td class="number">{counts === undefined ? '–' : formatCount(counts.needs_approval)}</td>
      <td class="muted">{agent === undefined ? '–' : formatDate(agent.created_at)}</td>
    </tr>
  );
}

function rowsOf(agents: AgentSummary[], summary: Summary | undefined): Row[] {
  const counts = new Map<string, OutcomeCounts>(summary?.by_agent.map((row) => [row.agent_name, row]));
  const uncounted = summary?.others.by_agent === null ? NONE : undefined;
  const registered = new Set(agents.map(({ name }) => name));
  const unregistered = summary?.by_agent.filter(({ agent_name }) => !registered.has(agent_name)) ?? [];
  return [
    ...agents.map((agent) => ({ name: agent.name, agent, counts: counts.get(agent.name) ?? uncounted })),
    ...unregistered.map((row) => ({ name: row.agent_name, agent: undefined, counts: row })),
  ];
}

function NoAgents({ projectId }: { projectId: string }) {
  return (
    <EmptyState title="No agents yet">
      <p>
        An agent registers with its name and its tools, and gets a default policy. To try it,{' '}
        <a href={projectPath(projectId, 'keys')}>create a key</a>, set GATE_API_KEY to it, and run:
      </p>
      <CodeBlock text={curlCommand('/v1/agents', shellQuoted(EXAMPLE))} label="Register an agent" />
    </EmptyState>
  );
}
