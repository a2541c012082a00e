import { isAgentName } from '../../../../agent-name.ts';
import { auditOf } from '../../api/call.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { projectPath } from '../../app/route.ts';
import { countText } from '../../text/format.ts';
import { shellQuoted } from '../../text/shell-quoted.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { curlCommand } from '../../ui/curl-command.ts';
import { EmptyState, Waiting } from '../../ui/states.tsx';

const TOOLS_MAX = 200;
const WINDOW = '90d';

/** Shown instead of the page of an agent that never registered: what it recorded, and how to register it. */
export function UnregisteredAgent({ projectId, agentName }: { projectId: string; agentName: string }) {
  const called = useAnswer(
    auditOf(projectId, 'breakdown', { by: 'tool', agent: agentName, window: WINDOW, limit: TOOLS_MAX }),
  );
  const { data } = called;
  if (data === undefined) return <Waiting answer={called} lines={6} />;
  const total = data.items.reduce((sum, item) => sum + item.total, data.others?.total ?? 0);
  if (total === 0) {
    return (
      <EmptyState title="Agent not found">
        <p>No agent with this name is registered in this project, and none recorded a decision in 90 days.</p>
      </EmptyState>
    );
  }
  const recorded = `It recorded ${countText(total, 'decision')} in the last 90 days, but it has no policy here.`;
  if (!isAgentName(agentName)) {
    return (
      <EmptyState title="This agent is not registered">
        <p>
          {recorded} An agent cannot register by this name: it contains a slash or a control character. Give
          the agent another name.
        </p>
      </EmptyState>
    );
  }
  const tools = data.items.map(({ value }) => value);
  return (
    <EmptyState title="This agent is not registered">
      <p>
        {recorded} To register it with the tools that it called,{' '}
        <a href={projectPath(projectId, 'keys')}>create a key</a>, set GATE_API_KEY to it, and run:
      </p>
      <CodeBlock
        text={curlCommand('/v1/agents', shellQuoted({ name: agentName, tools }))}
        label="Register this agent"
      />
    </EmptyState>
  );
}
