import { projectPath } from '../app/route.ts';
import { CodeBlock } from './code-block.tsx';
import { curlEvent } from './curl-command.ts';

const EXAMPLE = { agent_name: 'my-agent', tool_name: 'search', outcome: 'allow' };

/** Three steps to the first record. */
export function FirstDecision({ projectId }: { projectId: string }) {
  return (
    <>
      <ol class="steps">
        <li>
          <a href={projectPath(projectId, 'keys')}>Create a key</a> for this project.
        </li>
        <li>
          Set it in your shell: <code>export GATE_API_KEY=…</code>
        </li>
        <li>Record a decision:</li>
      </ol>
      <CodeBlock text={curlEvent('/v1/audit/decisions', EXAMPLE)} label="Record a decision" />
      <p class="muted">It appears on this page within a second.</p>
    </>
  );
}
