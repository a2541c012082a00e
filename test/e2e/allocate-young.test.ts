import { expect } from 'chai';
import { runCommand } from '../support/processes.ts';
import { startTestService, WITHOUT_LOG } from '../support/service.ts';

const NODE = ['--allow-natives-syntax', '--max-semi-space-size=1', 'test/support/allocated-place.ts'];
const PRINT_FLAGS = `--import=${new URL('../support/print-flags.ts', import.meta.url).href}`;

describe('objects of a place in the code of which all survive', () => {
  it('are allocated in the old generation by default', async () => {
    expect((await runCommand(process.execPath, [...NODE, 'default'])).output).to.equal('old');
  });

  it('are allocated in the young generation as the service sets V8', async () => {
    expect((await runCommand(process.execPath, [...NODE, 'young'])).output).to.equal('young');
  });

  it('are so in a service from its start on', async () => {
    const service = await startTestService({
      env: { NODE_OPTIONS: `${WITHOUT_LOG.NODE_OPTIONS} ${PRINT_FLAGS}` },
    });
    await service.stop();

    expect(service.output()).to.contain('sets --no-allocation-site-pretenuring');
  });
});
