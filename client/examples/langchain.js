// An agent of LangChain under a policy. The model is LangChain's fake, which makes one allowed and one denied call; replace it with
// yours. Needs the packages langchain and zod.
import { fileURLToPath } from 'node:url';
import { AIMessage, createAgent, fakeModel, tool, ToolMessage } from 'langchain';
import { z } from 'zod';
import { governMiddleware } from '@gatehouse/client/langchain';

const model = fakeModel()
  .respondWithTools([
    { name: 'search', args: { query: 'parcels' }, id: '1' },
    { name: 'write_file', args: { path: '/etc/passwd' }, id: '2' },
  ])
  .respond(new AIMessage('Done.'));

const tools = [
  tool(({ query }) => `3 results for ${query}`, {
    name: 'search',
    schema: z.object({ query: z.string() }),
  }),
  tool(({ path }) => `wrote ${path}`, { name: 'write_file', schema: z.object({ path: z.string() }) }),
];

const { middleware } = await governMiddleware({
  agentName: 'support-bot',
  localPolicy: fileURLToPath(new URL('policy.yaml', import.meta.url)),
  // The context of a run says who its caller is.
  caller: ({ context }) => ({ role: context.user.role, userId: context.user.id }),
});
const agent = createAgent({ model, tools, middleware: [middleware] });
const { messages } = await agent.invoke(
  { messages: [{ role: 'user', content: 'Find the parcels.' }] },
  { context: { user: { id: 'user-1', role: 'editor' } } },
);
for (const message of messages) if (ToolMessage.isInstance(message)) console.log(message.content);
console.log(messages.at(-1).content);
