import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ListToolsRequestSchema, type Tool } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { policyOfTools } from '../../../client/gateway/policy-of-tools.ts';
import { listServerTools } from '../../../client/gateway/server-tools.ts';
import { createTypescriptEngine, parsePolicy } from '../../../client/policy/language/index.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { listen } from '../../support/listen.ts';

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
});
const PAGES = [
  [tool('search', { annotations: { readOnlyHint: true, title: 'Search' }, description: 'Finds' })],
  [tool('write', { annotations: { destructiveHint: false } }), tool('long', { description: '😀'.repeat(5_000) })],
]; // prettier-ignore

describe('the tools of an MCP server', () => {
  it('are listed over Streamable HTTP, page by page, and the session is ended', async () => {
    const server = new Server({ name: 'pages', version: '1.0.0' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
      await server.ping();
      const page = Number(params?.cursor ?? 0);
      return { tools: PAGES[page] ?? [], ...(page === 0 && { nextCursor: '1' }) };
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
    await server.connect(transport);
    const methods: (string | undefined)[] = [];
    const http = createServer((request, response) => {
      methods.push(request.method);
      expect(request.headers.authorization).to.equal('Bearer t');
      void transport.handleRequest(request, response);
    });
    const url = `http://127.0.0.1:${await listen(http)}/mcp`;
    const tools = await listServerTools({ url, headers: { Authorization: 'Bearer t' } }, captureLogger());
    http.closeAllConnections();
    http.close();

    expect(tools).to.deep.equal([
      { name: 'search', description: 'Finds', annotations: { readOnlyHint: true } },
      { name: 'write', annotations: { destructiveHint: false } },
      { name: 'long', description: '😀'.repeat(4_000) },
    ]);
    expect(methods.at(-1)).to.equal('DELETE');
  });

  it('are refused with the reason when the server cannot be reached', async () => {
    const closed = createServer();
    const address = { url: `http://127.0.0.1:${await listen(closed)}/mcp`, headers: {} };
    await new Promise((resolve) => closed.close(resolve));
    const fault: unknown = await listServerTools(address, captureLogger()).catch((error: unknown) => error);

    expect(String(fault)).to.match(/^Error: The server did not list its tools: connect ECONNREFUSED /);
  });

  it('make a policy whatever their names are, if a policy can have them', async () => {
    const names = [`it's "#": [x]`, '- a', 'ü😀', '*/b', 'null'];
    const annotations = { readOnlyHint: true };
    const text = await policyOfTools('an: agent', [...names.map((name) => ({ name, annotations })), { name: 'no' }]); // prettier-ignore
    const parsed = parsePolicy(text);
    if (!parsed.ok) throw new Error(text);
    const engine = createTypescriptEngine(parsed.ir);

    for (const name of names) expect(engine.decide({ tool: name }).outcome).to.equal('allow');
    expect(engine.decide({ tool: 'no', role: 'admin' }).outcome).to.equal('needs_approval');
    expect(parsePolicy(await policyOfTools('a', []))).to.have.property('ok', true);
    const fault: unknown = await policyOfTools('a', [{ name: 'a\nb' }]).catch((error: unknown) => error);
    expect(fault).to.have.property('code', 'policy_invalid');
  });
});
