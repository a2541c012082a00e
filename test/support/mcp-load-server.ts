// An MCP server on stdio that writes down each call that it runs: mcp-load-server.ts FILE
import { appendFileSync, writeFileSync } from 'node:fs';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const [file = ''] = process.argv.slice(2);
writeFileSync(`${file}.pid`, String(process.pid));
writeFileSync(file, '');

const server = new McpServer({ name: 'load-tools', version: '1.0.0' });
for (const name of ['search', 'write']) {
  server.registerTool(name, { inputSchema: { n: z.number() } }, ({ n }) => {
    appendFileSync(file, `${name} ${n}\n`);
    return { content: [{ type: 'text', text: `${name} ${n}` }] };
  });
}
await server.connect(new StdioServerTransport());
