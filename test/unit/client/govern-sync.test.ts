import { expect } from 'chai';
import { startAgentWorld, type AgentWorld } from '../../support/agent-world.ts';
import { runClientProcess } from '../../support/client-process.ts';
import { DECISIONS } from '../../support/emission.ts';
import type { MockServer } from '../../support/mock-server.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';

describe('govern', () => {
  let world: AgentWorld;
  let mock: MockServer;
  let key: string;

  beforeEach(async () => {
    world = await startAgentWorld();
    ({ mock, key } = world);
  });

  afterEach(() => world.close());

  describe('runSync', () => {
    const run = (program: string) =>
      runClientProcess(
        `const report = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
         const attempt = (call) => { try { return call(); } catch (error) { return error.name + ': ' + error.message; } };
         ${program}`,
        { GATE_BASE_URL: mock.url, GATE_KEY: key, GATE_API_KEY: 'k' },
      );

    it('refreshes by blocking, then runs; tools are synchronous; emits nothing and warns once', async () => {
      const result = await run(`
        const agent = { name: 'support-bot', tools: { search: (args) => args.q, write: () => 1 },
          run: ({ tools }, q) => [tools.search({ q }), attempt(() => tools.write({}))] };
        const governed = await client.govern(agent);
        report(governed.runSync('cats'));
        report(governed.runSync('dogs'));
        await client.shutdown();
        report(governed.gate.stats());
      `);
      const denied = 'PolicyDeniedError: write is denied: Role may not use this tool.';

      expect(
        result.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown),
      ).to.deep.equal([['cats', denied], ['dogs', denied], { sent: 0, failed: 0, dropped: 0, in_flight: 0 }]);
      expect(mock.seen(AGENT_ROUTE)).to.have.length(3);
      expect(mock.seen(DECISIONS)).to.deep.equal([]);
      expect(result.stderr.match(/No running event loop/g)).to.have.length(1);
    });

    it('a tool or handler that returns a promise is a clear error', async () => {
      const result = await run(`
        const agent = { name: 'support-bot', tools: { search: async () => { throw new Error('late'); }, transfer: () => 'sent' },
          run: ({ tools }, tool) => attempt(() => tools[tool]({})) };
        const answering = (answer) => client.govern(agent, { onApproval: answer });
        report((await answering(() => true)).runSync('search'));
        report((await answering(() => Promise.reject(new Error('late')))).runSync('transfer'));
        report((await answering(() => true)).runSync('transfer'));
        report((await answering(() => false)).runSync('transfer'));
      `);
      const lines = result.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as string);

      expect(lines[0]).to.match(/^ValueError: The tool search returned a promise/);
      expect(lines[1]).to.match(/^ValueError: onApproval returned a promise/);
      expect(lines[2]).to.equal('sent');
      expect(lines[3]).to.match(/^ApprovalRequiredError/);
      expect(result.code).to.equal(0);
    });
  });
});
