// Hooks that put sessions of the Claude Agent SDK under a policy. A program gives them to the SDK:
//   for await (const message of query({ prompt, options: { hooks } })) …
// This one calls the hook itself, as Claude Code does before each tool call.
import { fileURLToPath } from 'node:url';
import { governHooks } from '@gatehouse/client/claude-agent-sdk';

const { hooks } = await governHooks({
  agentName: 'support-bot',
  role: 'editor',
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
});

const [{ hooks: [beforeToolCall] }] = hooks.PreToolUse; // prettier-ignore
const { signal } = new AbortController();
for (const call of [
  { tool_name: 'search', tool_input: { query: 'parcels' } },
  { tool_name: 'write_file', tool_input: { path: '/etc/passwd' } },
]) {
  const input = { session_id: 'session-1', hook_event_name: 'PreToolUse', ...call };
  const { hookSpecificOutput: answer } = await beforeToolCall(input, 'call-1', { signal });
  console.log(
    `${call.tool_name}:`,
    answer?.permissionDecisionReason ?? 'left to the permissions of the session',
  );
}
