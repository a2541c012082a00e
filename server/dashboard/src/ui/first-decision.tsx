import { projectPath } from '../app/route.ts';
import { CodeBlock } from './code-block.tsx';

/** How to get the first record in: a command to paste. */
export function FirstDecision({ projectId }: { projectId: string }) {
  const command = [
    `curl -sS -X POST ${location.origin}/v1/audit/decisions \\`,
    `  -H "Authorization: Bearer $GATE_API_KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d "{\\"event_id\\":\\"$(uuidgen)\\",\\"occurred_at\\":\\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\\",`,
    `       \\"agent_name\\":\\"my-agent\\",\\"tool_name\\":\\"search\\",\\"outcome\\":\\"allow\\"}"`,
  ].join('\n');
  return (
    <>
      <p>
        Choose a longer window, or send one: make a key under{' '}
        <a href={projectPath(projectId, 'keys')}>Keys</a>, put it into GATE_API_KEY, and run
      </p>
      <CodeBlock text={command} label="Record a decision" />
    </>
  );
}
