import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { governMcpClient, type McpRun } from '../../../client/adapters/mcp.ts';
import type { AdapterHarness, ModelCall, TestTools } from './contract.ts';
import { schemaOf } from './schemas.ts';

type Call = (run: McpRun<Client>, call: ModelCall) => Promise<string>;

/** A loop around the official MCP client that passes errors to the model as text. */
const harnessCalling = (call: Call): AdapterHarness => ({
  isStreaming: false,
  bind: async (tools, options) => {
    const governed = await governMcpClient(await clientOf(tools), options);
    return async (steps, { caller, onModel }) => {
      const run = await governed.startRun(caller);
      const texts: string[] = [];
      for (const calls of steps) {
        onModel?.();
        const results = calls.map((one) => call(run, one));
        const settled = await Promise.allSettled(results);
        texts.push(...settled.map((one) => String(one.status === 'fulfilled' ? one.value : one.reason)));
      }
      return texts;
    };
  },
});

export const mcpHarness = harnessCalling(async (run, { name, args }) =>
  textOf(await run.callTool({ name, arguments: args })),
);
/** The calls that frameworks make on a client. */
export const mcpClientHarness = harnessCalling(async (run, { name, args }) =>
  textOf(await run.client.callTool({ name, arguments: args })),
);
export const mcpRequestHarness = harnessCalling(async (run, { name, args }) => {
  const request = { method: 'tools/call' as const, params: { name, arguments: args } };
  return textOf(await run.client.request(request, CallToolResultSchema));
});

const textOf = (result: object): string =>
  'content' in result ? ((result.content as { text: string }[])[0]?.text ?? '') : '';

async function clientOf(tools: TestTools): Promise<Client> {
  const server = new McpServer({ name: 'test-tools', version: '1.0.0' });
  for (const [name, tool] of Object.entries(tools)) {
    server.registerTool(name, { inputSchema: schemaOf(name) }, (args: unknown) => ({
      content: [{ type: 'text', text: String(tool(args)) }],
    }));
  }
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return client;
}
