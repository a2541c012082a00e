import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect } from 'chai';
import { fetchAgent, type FetchedAgent } from '../support/agents.ts';
import { readDecisions } from '../support/audit.ts';
import { jsonOf } from '../support/accounts.ts';
import { NODE_ENVIRONMENT } from '../support/environment.ts';
import { eventually } from '../support/eventually.ts';
import { keyWith } from '../support/keys.ts';
import { runCommand } from '../support/processes.ts';
import { useSharedService } from '../support/shared-service.ts';

const CLI = fileURLToPath(new URL('../../client/cli.ts', import.meta.url));
const SERVER = ['--', process.execPath, fileURLToPath(new URL('../support/mcp-server.ts', import.meta.url))];

const POLICY = `# Made from what an MCP server says of its tools. Check each line: the annotations are the claims of the server.
version: 1
agent: "files"
tools: # every other tool is denied
  - "search" # read-only
  - "write" # additive
  - "transfer" # destructive
  - "calls" # destructive
roles:
  admin:
    allow: ['*']
    approve: ["transfer", "calls"]
  '*': # every other role, and calls without a role
    allow: ["search"]
    approve: ["write", "transfer", "calls"]
rules: []
`;

describe('an MCP server under governance, from nothing', () => {
  const service = useSharedService();
  const agentName = `files-${randomUUID()}`;
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-zero-'));
    const key = await keyWith(service, { scope: 'emit_audit edit_policy' });
    env = { GATE_BASE_URL: service.url, GATE_KEY: key, GATE_API_KEY: key };
  });
  after(() => rm(folder, { recursive: true }));

  const command = (...words: string[]) =>
    runCommand(process.execPath, [CLI, ...words, ...SERVER], { cwd: folder, env });

  it('init writes a policy of the annotations, to standard output or to a file that did not exist', async () => {
    expect(await command('init', '--agent', 'files')).to.include({ code: 0, stdout: POLICY, stderr: '' });
    const file = ['init', '--agent', 'files', '--output', 'policy.yaml'];
    expect((await command(...file)).code).to.equal(0);
    const again = await command(...file);

    expect(again.code).to.equal(1);
    expect(again.stderr).to.equal('policy.yaml already exists. Delete it, or name another file.\n');
    expect(await readFile(join(folder, 'policy.yaml'), 'utf8')).to.equal(POLICY);
  });

  it('register registers the agent, its tools and its policy', async () => {
    const bare = await command('register', '--agent', agentName);
    const args = ['register', '--agent', agentName, '--policy', 'policy.yaml'];
    const withPolicy = await command(...args);
    const agent = await jsonOf<FetchedAgent>(fetchAgent(service, agentName));

    expect(bare).to.include({ code: 0, stdout: `${agentName} is registered: version 1, 4 tools\n` });
    expect(withPolicy.stdout).to.equal(`${agentName} was registered before: version 2, 4 tools\n`);
    expect(agent.policy_yaml).to.equal(POLICY);
    expect((await command(...args)).stdout).to.include('version 2');
  });

  it('the gateway enforces it, and its decisions are there to be read', async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', '--agent', agentName, '--user', 'u-1', ...SERVER],
      env: { ...NODE_ENVIRONMENT, ...env },
      stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(transport);
    const found = await client.callTool({ name: 'search', arguments: { query: 'cats' } });
    const unasked = await client.callTool({ name: 'write', arguments: { path: '/' } });
    await client.close();
    const items = await eventually(async () => {
      const { items } = await readDecisions(service, { agent: agentName });
      return items.length === 2 ? items : undefined;
    });

    expect(found.content).to.deep.equal([{ type: 'text', text: 'found cats' }]);
    expect(unasked).to.have.property('isError', true);
    expect(
      items.map(({ tool_name, outcome }) => `${String(tool_name)} ${String(outcome)}`).toSorted(),
    ).to.deep.equal(['search allow', 'write needs_approval']);
  });

  it('says why nothing is written or registered', async () => {
    const bad = { ...env, GATE_KEY: await keyWith(service, { scope: 'fetch_policy' }) };
    const words = ['register', '--agent', agentName, ...SERVER];
    const forbidden = await runCommand(process.execPath, [CLI, ...words], { env: bad });
    const missing = [CLI, 'init', '--agent', 'a', '--', 'no-such-command'];
    const ended = [CLI, 'init', '--agent', 'a', '--', process.execPath, '-e', 'process.exit(3)'];
    const run = async (args: string[]) => (await runCommand(process.execPath, args)).stderr;

    expect(forbidden.code).to.equal(1);
    expect(forbidden.stderr).to.match(/403 forbidden: .*register_agent/);
    expect(await run(missing)).to.include('no-such-command cannot be run');
    expect(await run(ended)).to.include('ended with 3');
    expect((await command('init', '--agent', 'a', '--role', 'r')).code).to.equal(2);
  });
});

describe('client/examples/from-zero.js', () => {
  const service = useSharedService();

  it('begins with nothing and ends with decisions in the dashboard', async () => {
    const example = fileURLToPath(new URL('../../client/examples/from-zero.js', import.meta.url));
    const env = { GATE_BASE_URL: service.url, GATE_KEY: '', GATE_API_KEY: '' };
    const { code, output } = await runCommand(process.execPath, [example], { env });

    expect(code, output).to.equal(0);
    expect(output).to.match(/^3 results for late parcels\ntransfer needs approval/);
    const [, page = '', project_id = ''] =
      /decisions: (\S+\/projects\/([^/]+)\/decisions)/.exec(output) ?? [];
    expect((await fetch(page, { headers: { Accept: 'text/html' } })).status).to.equal(200);
    const { items } = await readDecisions({ ...service, project_id });
    expect(items.map(({ tool_name, outcome }) => `${String(tool_name)} ${String(outcome)}`)).to.have.members([
      'search allow',
      'transfer needs_approval',
    ]);
  });
});
