// The MCP server for mcp.js.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'example-tools', version: '1.0.0' });
const answer = (text) => ({ content: [{ type: 'text', text }] });
server.registerTool('search', { inputSchema: { query: z.string() } }, ({ query }) =>
  answer(`3 results for ${query}`),
);
server.registerTool('write_file', { inputSchema: { path: z.string() } }, ({ path }) =>
  answer(`wrote ${path}`),
);
await server.connect(new StdioServerTransport());
