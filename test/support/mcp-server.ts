import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

// A real MCP server on stdio with the tools of the tests' policy; it says how often a tool ran.
const server = new McpServer({ name: 'test-tools', version: '1.0.0' });
let calls = 0;

const answer = (text: string) => ({ content: [{ type: 'text' as const, text }] });

const search = { inputSchema: { query: z.string() }, annotations: { readOnlyHint: true } };
server.registerTool('search', search, ({ query }) => {
  calls += 1;
  return answer(`found ${query}`);
});
const write = { inputSchema: { path: z.string() }, annotations: { destructiveHint: false } };
server.registerTool('write', write, () => {
  calls += 1;
  return answer('written');
});
server.registerTool('transfer', { inputSchema: { amount: z.number() } }, ({ amount }) => {
  calls += 1;
  return answer(`sent ${amount}`);
});
server.registerTool('calls', {}, () => answer(String(calls)));

await server.connect(new StdioServerTransport());
