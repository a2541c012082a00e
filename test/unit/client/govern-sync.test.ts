import { expect } from 'chai';
import { startAgentWorld } from '../../support/agent-world.ts';
import { runClientProcess } from '../../support/client-process.ts';
import { DECISIONS } from '../../support/emission.ts';
import { AGENT_ROUTE } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('govern: runSync', () => {
  const world = forEachTest(startAgentWorld);
  let { mock, key } = world;
  beforeEach(() => void ({ mock, key } = world));

  const run = (name: string) =>
    runClientProcess({
      file: 'blocking.ts',
      name,
      env: { GATE_BASE_URL: mock.url, GATE_KEY: key, GATE_API_KEY: 'k' },
    });

  it('refreshes by blocking, then runs; tools are synchronous; emits nothing and warns once', async () => {
    const { reports, stderr } = await run('runSync');
    const denied = 'PolicyDeniedError: write is denied: Role may not use this tool.';

    expect(reports).to.deep.equal([
      ['cats', denied],
      ['dogs', denied],
      { sent: 0, failed: 0, dropped: 0, in_flight: 0 },
    ]);
    expect(mock.seen(AGENT_ROUTE)).to.have.length(3);
    expect(mock.seen(DECISIONS)).to.deep.equal([]);
    expect(stderr.match(/No running event loop/g)).to.have.length(1);
  });

  it('throws a ValueError when a tool or onApproval returns a promise', async () => {
    const { reports, code } = await run('promisesInRunSync');
    const [tool, handler, approved, refused] = reports;

    expect(tool).to.match(/^ValueError: The tool search returned a promise/);
    expect(handler).to.match(/^ValueError: onApproval returned a promise/);
    expect(approved).to.equal('sent');
    expect(refused).to.match(/^ApprovalRequiredError/);
    expect(code).to.equal(0);
  });
});
