// An agent of Mastra under a policy. The model is the mock of the AI SDK, which makes one allowed and one denied call; replace it
// with yours. Needs the packages @mastra/core, ai and zod.
import { fileURLToPath } from 'node:url';
import { Agent } from '@mastra/core/agent';
import { RequestContext } from '@mastra/core/request-context';
import { createTool } from '@mastra/core/tools';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { governAgent } from '@gatehouse/client/mastra';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};
const call = (toolName, input) => ({
  type: 'tool-call',
  toolCallId: toolName,
  toolName,
  input: JSON.stringify(input),
});
const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [call('search', { query: 'parcels' }), call('write_file', { path: '/etc/passwd' })],
      finishReason: { unified: 'tool-calls' },
      usage,
      warnings: [],
    },
    { content: [{ type: 'text', text: 'Done.' }], finishReason: { unified: 'stop' }, usage, warnings: [] },
  ],
});

const tools = {
  search: createTool({
    id: 'search',
    description: 'Finds orders',
    inputSchema: z.object({ query: z.string() }),
    execute: async ({ query }) => `3 results for ${query}`,
  }),
  write_file: createTool({
    id: 'write_file',
    description: 'Writes a file',
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => `wrote ${path}`,
  }),
};

const { hooks, inputProcessors } = await governAgent({
  agentName: 'support-bot',
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
  // The RequestContext of a run says who its caller is.
  caller: (context) => ({ role: context.get('role'), userId: context.get('user') }),
});
const agent = new Agent({
  id: 'support-bot',
  name: 'support-bot',
  instructions: 'Help customers.',
  model,
  tools,
  hooks,
  inputProcessors,
});
const requestContext = new RequestContext([
  ['role', 'editor'],
  ['user', 'user-1'],
]);
const { steps, text } = await agent.generate('Find the parcels.', { requestContext });
for (const { toolResults } of steps) for (const { payload } of toolResults) console.log(payload.result);
console.log(text);
