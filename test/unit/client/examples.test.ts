import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { startMockServer, type MockServer } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  publishedAgent,
  serveKeys,
  signedRecord,
} from '../../support/platform.ts';
import { runCommand } from '../../support/processes.ts';

const CLIENT = fileURLToPath(new URL('../../../client/', import.meta.url));

const OUTPUT: Record<string, string[]> = {
  'local-policy.js': [
    '3 results for late parcels',
    'approved: transfer {"amount":10}',
    'sent 10',
    'denied: System paths are closed. system-paths: System paths are closed.',
    'done',
  ],
  'platform.js': [
    'registered',
    'policy: bundle, version v-1',
    '3 results for late parcels',
    '{ sent: 1, failed: 0, dropped: 0, in_flight: 0 }',
  ],
  'audit-only.js': ['{ sent: 2, failed: 0, dropped: 0, in_flight: 0 }'],
  'ai-sdk.js': [
    'search: 3 results for parcels',
    'write_file: write_file is denied: System paths are closed.',
    '{"reason":"System paths are closed.","violations":["system-paths: System paths are closed."],"hint":{"code":"rule","rule":"system-paths"}}',
    'Done.',
  ],
  'claude-agent-sdk.js': [
    'search: left to the permissions of the session',
    'write_file: PolicyDeniedError: write_file is denied: System paths are closed.',
    '{"reason":"System paths are closed.","violations":["system-paths: System paths are closed."],"hint":{"code":"rule","rule":"system-paths"}}',
  ],
  'langchain.js': [
    '3 results for parcels',
    'PolicyDeniedError: write_file is denied: System paths are closed.',
    '{"reason":"System paths are closed.","violations":["system-paths: System paths are closed."],"hint":{"code":"rule","rule":"system-paths"}}',
    'Done.',
  ],
  'openai-agents.js': [
    '3 results for parcels',
    'PolicyDeniedError: write_file is denied: System paths are closed.',
    '{"reason":"System paths are closed.","violations":["system-paths: System paths are closed."],"hint":{"code":"rule","rule":"system-paths"}}',
    'Done.',
  ],
  'mcp.js': ['3 results for parcels', 'write_file is denied: System paths are closed.'],
};

describe('client/examples', () => {
  let mock: MockServer;
  let env: Record<string, string>;

  before(async () => {
    // The examples import the package as its users do.
    expect(existsSync(`${CLIENT}dist/index.js`), 'the client is built: npm run build').to.equal(true);
    const signer = await createSigner();
    const key = await signer.bearerKey('p-1');
    mock = await startMockServer();
    serveKeys(mock, signer);
    mock.on('GET /v1/agents/support-bot', conditionally(await signedRecord(publishedAgent(), signer)));
    const registered = { agent_id: 'agent-1', agent_version_id: 'v-1', version: 1 };
    mock.on('POST /v1/agents', { status: 201, json: registered });
    mock.on('POST /v1/audit/decisions', { status: 202 });
    mock.on('POST /v1/audit/decisions/batch', { status: 202 });
    mock.on('POST /v1/audit/llm-invocations', { status: 202 });
    env = { GATE_BASE_URL: mock.url, GATE_KEY: key, GATE_API_KEY: key };
  });

  after(() => mock.close());

  it('are all run here', () => {
    const programs = readdirSync(`${CLIENT}examples`).filter((name) => name.endsWith('.js'));

    // One is run by mcp.js, one needs a service (test/e2e/from-zero.test.ts), and one needs the real Mastra (make mastra-check).
    expect(programs.toSorted()).to.deep.equal(
      ['mcp-server.js', 'from-zero.js', 'mastra.js', ...Object.keys(OUTPUT)].toSorted(),
    );
  });

  for (const [name, lines] of Object.entries(OUTPUT)) {
    it(`${name} prints what it should`, async () => {
      const keys = name === 'platform.js' || name === 'audit-only.js' ? env : {};
      const { code, output } = await runCommand(process.execPath, [`examples/${name}`], {
        cwd: CLIENT,
        env: keys,
      });

      expect(output.trim().split('\n')).to.deep.equal(lines);
      expect(code).to.equal(0);
    });
  }
});

describe('client/README.md', () => {
  const readme = readFileSync(`${CLIENT}README.md`, 'utf8');

  it('lists exactly the error codes of the client', () => {
    const sources = readdirSync(`${CLIENT}policy`).filter((name) => name.endsWith('.ts'));
    const text = sources.map((name) => readFileSync(`${CLIENT}policy/${name}`, 'utf8')).join('\n');
    const inSource = new Set([...text.matchAll(CODE_IN_SOURCE)].map(([, code]) => code));
    const table = readme.slice(readme.search(/\| code +\|/), readme.indexOf('## Adapters'));
    const inReadme = new Set([...table.matchAll(/`([a-z_]+)`/g)].map(([, code]) => code));

    expect([...inSource]).to.have.members([...inReadme]);
  });

  it('names every variable the client reads', () => {
    const config = readFileSync(`${CLIENT}config.ts`, 'utf8');
    for (const [name] of config.matchAll(/GATE_[A-Z_]+[A-Z]/g)) expect(readme).to.include(name);
  });
});

/** Error codes are string literals with one of these endings. */
const CODE_IN_SOURCE =
  /'([a-z_]+_(?:missing|invalid|mismatch|unknown|rollback|outdated|incomplete|expired|untrusted|malformed|unreadable|unavailable|error)|unreachable|unauthenticated)'/g;
