// Tools of the Vercel AI SDK under a policy; the tokens of every model call are recorded. The model is the SDK's mock,
// which makes one allowed and one denied call; replace it with yours. Needs the packages ai and zod.
import { fileURLToPath } from 'node:url';
import { generateText, isStepCount, tool, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { z } from 'zod';
import { governTools } from '@gatehouse/client/ai-sdk';

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
const mockModel = new MockLanguageModelV4({
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
  search: tool({
    inputSchema: z.object({ query: z.string() }),
    execute: ({ query }) => `3 results for ${query}`,
  }),
  write_file: tool({ inputSchema: z.object({ path: z.string() }), execute: ({ path }) => `wrote ${path}` }),
};

const governed = await governTools(tools, {
  agentName: 'support-bot',
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
});
const run = await governed.startRun({ role: 'editor' });
const { steps, text } = await generateText({
  model: wrapLanguageModel({ model: mockModel, middleware: run.usage }),
  tools: run.tools,
  prepareStep: run.prepareStep,
  stopWhen: isStepCount(5),
  prompt: 'Find the parcels.',
});
for (const part of steps[0].content) {
  if (part.type === 'tool-result') console.log(`${part.toolName}:`, part.output);
  if (part.type === 'tool-error') console.log(`${part.toolName}: ${part.error.message}`);
}
console.log(text);
