import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { governMcpClient } from '../../../client/adapters/mcp.ts';
import type { AdapterHarness, TestTools } from './contract.ts';
import { schemaOf } from './schemas.ts';

/** A loop around the official MCP client, which tells the model of errors as text. */
export const mcpHarness: AdapterHarness = {
  isStreaming: false,
  bind: async (tools, options) => {
    const governed = await governMcpClient(await clientOf(tools), options);
    return async (steps, { caller, onModel }) => {
      const run = await governed.startRun(caller);
      const texts: string[] = [];
      for (const calls of steps) {
        onModel?.();
        const results = calls.map(({ name, args }) => run.callTool({ name, arguments: args }));
        const settled = await Promise.allSettled(results);
        texts.push(
          ...settled.map((one) =>
            one.status === 'fulfilled' ? JSON.stringify(one.value) : String(one.reason),
          ),
        );
      }
      return texts;
    };
  },
};

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
