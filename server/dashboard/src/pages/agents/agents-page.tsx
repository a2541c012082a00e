import { call, summaryOf } from '../../api/call.ts';
import type { AgentSummary, OutcomeCounts, Summary } from '../../api/types.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { agentPath, projectPath } from '../../app/route.ts';
import { formatCount, formatDate, formatShare } from '../../text/format.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Inert } from '../../ui/inert.tsx';
import { PageHead, useWindow } from '../../ui/page-head.tsx';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

const COLUMNS = [
  'Agent',
  'Policy',
  ['Tools', 'number'],
  ['Decisions', 'number'],
  ['Denied', 'number'],
  ['Waiting', 'number'],
  'Saved (UTC)',
] as const;

type Row = { name: string; agent: AgentSummary | undefined; counts: OutcomeCounts | undefined };

/** Registered agents, and those that only made decisions. */
export function AgentsPage({ projectId }: { projectId: string }) {
  const window = useWindow();
  const agents = useAnswer(call('GET /v1/projects/{id}/agents', { params: { id: projectId } }));
  const summary = useAnswer(summaryOf(projectId, window));
  const rows = agents.data === undefined ? undefined : rowsOf(agents.data.items, summary.data);
  return (
    <>
      <PageHead title="Agents" hasWindow />
      {agents.error !== undefined && <ErrorState error={agents.error} retry={agents.reload} />}
      {agents.isLoading && <Loading lines={8} />}
      {rows?.length === 0 && <NoAgents projectId={projectId} />}
      {rows !== undefined && rows.length > 0 && (
        <div class="panel">
          <Table label="Agents" columns={COLUMNS}>
            {rows.map((row) => (
              <AgentRow key={row.name} row={row} projectId={projectId} />
            ))}
          </Table>
        </div>
      )}
    </>
  );
}

function AgentRow({ row: { name, agent, counts }, projectId }: { row: Row; projectId: string }) {
  const decisions = `${projectPath(projectId, 'decisions')}?${new URLSearchParams({ agent: name })}`;
  return (
    <tr>
      <th scope="row" class="cell-long">
        <a href={agent === undefined ? decisions : agentPath(projectId, name)}>
          <Inert text={name} />
        </a>
      </th>
      <td>
        {agent === undefined ? (
          <span
            class="tag tag-warn"
            title="It records decisions but was never registered: it has no policy here"
          >
            not registered
          </span>
        ) : (
          <>
            <span class="tag">v{agent.version}</span>{' '}
            {agent.bundle === 'absent' && (
              <span class="tag tag-warn" title="Too large for a bundle: clients use the YAML">
                no bundle
              </span>
            )}
          </>
        )}
      </td>
      <td class="number">{agent === undefined ? '–' : formatCount(agent.tools.length)}</td>
      <td class="number">{formatCount(counts?.total ?? 0)}</td>
      <td class="number">{formatShare(counts?.deny ?? 0, counts?.total ?? 0)}</td>
      <td class="number">{formatCount(counts?.needs_approval ?? 0)}</td>
      <td class="muted">{agent === undefined ? '–' : formatDate(agent.created_at)}</td>
    </tr>
  );
}

function rowsOf(agents: AgentSummary[], summary: Summary | undefined): Row[] {
  const counts = new Map(summary?.by_agent.map((row) => [row.agent_name, row]));
  const registered = new Set(agents.map(({ name }) => name));
  const strangers = summary?.by_agent.filter(({ agent_name }) => !registered.has(agent_name)) ?? [];
  return [
    ...agents.map((agent) => ({ name: agent.name, agent, counts: counts.get(agent.name) })),
    ...strangers.map((row) => ({ name: row.agent_name, agent: undefined, counts: row })),
  ].sort((a, b) => (b.counts?.total ?? 0) - (a.counts?.total ?? 0) || (a.name < b.name ? -1 : 1));
}

function NoAgents({ projectId }: { projectId: string }) {
  const command = [
    `curl -sS -X POST ${location.origin}/v1/agents \\`,
    `  -H "Authorization: Bearer $GATE_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"my-agent","tools":["search",{"name":"refund","annotations":{"destructiveHint":true}}]}'`,
  ].join('\n');
  return (
    <EmptyState title="No agents yet">
      <p>
        An agent registers itself with its name and its tools, and gets a first policy. Make a key under{' '}
        <a href={projectPath(projectId, 'keys')}>Keys</a>, put it into GATE_API_KEY, and run
      </p>
      <CodeBlock text={command} label="Register an agent" />
    </EmptyState>
  );
}
