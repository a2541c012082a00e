// Tools of the OpenAI Agents SDK under a policy. The model is the SDK's scripted one, which makes one allowed and one denied call;
// leave it out to use yours. Needs the packages @openai/agents and zod.
import { fileURLToPath } from 'node:url';
import { Agent, Runner, tool } from '@openai/agents';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { z } from 'zod';
import { governTools } from '@gatehouse/client/openai-agents';

const scriptedModel = new ScriptedModel([
  [
    functionCall('search', { query: 'parcels' }, { callId: '1' }),
    functionCall('write_file', { path: '/etc/passwd' }, { callId: '2' }),
  ],
  [assistantMessage('Done.')],
]);

const search = tool({
  name: 'search',
  description: 'Finds orders',
  parameters: z.object({ query: z.string() }),
  execute: ({ query }) => `3 results for ${query}`,
});
const writeFile = tool({
  name: 'write_file',
  description: 'Writes a file',
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => `wrote ${path}`,
});

const { tools } = await governTools([search, writeFile], {
  agentName: 'support-bot',
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
  // The context of a run says who its caller is.
  caller: ({ user }) => ({ role: user.role, userId: user.id }),
});
const agent = new Agent({ name: 'support-bot', model: scriptedModel, tools });
const runner = new Runner({ tracingDisabled: true });
const { newItems, finalOutput } = await runner.run(agent, 'Find the parcels.', {
  context: { user: { id: 'user-1', role: 'editor' } },
});
for (const item of newItems) if (item.type === 'tool_call_output_item') console.log(item.output);
console.log(finalOutput);
