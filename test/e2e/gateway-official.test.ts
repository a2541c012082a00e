import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'chai';
import { connectFully, inspect, linesOf, sampleOf } from '../support/mcp-traffic.ts';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const TEE = pathOf('../support/mcp-tee.ts');
const CLI = pathOf('../../client/cli.ts');
const node = process.execPath;

type Message = { method?: string; params?: { name: string } };
/** Settings for defaults that would be slow or use the Internet. */
const ARGUMENTS: Record<string, Record<string, unknown>> = {
  'trigger-long-running-operation': { duration: 0.2, steps: 4 },
  'gzip-file-as-resource': { name: 'a.gz', data: 'data:text/plain,a' },
};

const isCall = (line: string): boolean => (JSON.parse(line) as Message).method === 'tools/call';

describe('the MCP gateway before the official servers, with the official client', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-official-'));
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data/a.txt'), 'text ü😀\r\n');
  });
  after(() => rm(folder, { recursive: true }));

  const SERVERS: Record<string, { command: () => string[]; argumentsOf: (tool: Tool) => Record<string, unknown> }> = {
    filesystem: {
      command: () => [node, pathOf('../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'), join(folder, 'data')],
      argumentsOf: ({ inputSchema }) => ({
        ...(sampleOf(inputSchema) as object),
        ...('path' in (inputSchema.properties ?? {}) && { path: join(folder, 'data/a.txt') }),
      }),
    },
    everything: {
      command: () => [node, pathOf('../../node_modules/@modelcontextprotocol/server-everything/dist/index.js'), 'stdio'],
      argumentsOf: ({ name, inputSchema }) =>
        ARGUMENTS[name] ?? (sampleOf(inputSchema) as Record<string, unknown>),
    },
  }; // prettier-ignore

  for (const [name, { command, argumentsOf }] of Object.entries(SERVERS)) {
    it(`passes all bytes of ${name} except those of tools/call`, async () => {
      const [outer, inner] = [join(folder, `${name}-outer`), join(folder, `${name}-inner`)];
      const [program = '', ...args] = command();
      // Some tools are listed only to clients that support sampling, elicitation or roots.
      const direct = await connectFully(program, args);
      const { tools } = await direct.listTools();
      await direct.close();
      const names = JSON.stringify(tools.map((tool) => tool.name));
      const policy = join(folder, `${name}.yaml`);
      await writeFile(policy, `version: 1\ntools: ${names}\nroles: { '*': { allow: ['*'] } }\nrules: []\n`);
      const gateway = [node, CLI, 'mcp', '--agent', name, '--local-policy', policy, '--'];
      const client = await connectFully(node, [TEE, outer, ...gateway, node, TEE, inner, ...command()]);
      await inspect(client, argumentsOf);
      await client.close();

      const sent = await linesOf(`${outer}.in`);
      const passed = await linesOf(`${inner}.in`);
      const methods = new Set(sent.map((line) => (JSON.parse(line) as Message).method));
      expect([...methods]).to.include.members(['initialize', 'tools/list', 'tools/call', 'ping']);
      expect(passed.filter((line) => !isCall(line))).to.deep.equal(sent.filter((line) => !isCall(line)));
      const callsIn = (lines: string[]) => lines.filter(isCall).map((line) => JSON.parse(line) as Message);
      expect(callsIn(sent)).to.have.length.above(5);
      expect(callsIn(passed)).to.deep.equal(callsIn(sent));
      expect((await linesOf(`${outer}.out`)).toSorted()).to.deep.equal(
        (await linesOf(`${inner}.out`)).toSorted(),
      );
    });
  }
});
