// The tools of an MCP server under a policy. A denied call does not reach the server. Needs the packages @modelcontextprotocol/sdk and zod.
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { governMcpClient } from '@gatehouse/client/mcp';

const fileBeside = (name) => fileURLToPath(new URL(name, import.meta.url));

const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(
  new StdioClientTransport({ command: process.execPath, args: [fileBeside('mcp-server.js')] }),
);

const governed = await governMcpClient(client, {
  agentName: 'support-bot',
  localPolicy: fileBeside('policy.yaml'),
});
const run = await governed.startRun({ role: 'editor' });
const { content } = await run.callTool({ name: 'search', arguments: { query: 'parcels' } });
console.log(content[0].text);
await run
  .callTool({ name: 'write_file', arguments: { path: '/etc/passwd' } })
  .catch((error) => console.log(error.message));
await client.close();
