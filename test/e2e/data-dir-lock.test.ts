import { expect } from 'chai';
import { StoreInUseError } from '../../server/store/open-faults.ts';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { gateFault } from '../support/gate.ts';
import { NO_STORE, runGate, runService } from '../support/processes.ts';
import { temporaryDirectory } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('a data directory in use by another process', () => {
  const service = useSharedService();

  it('stops a second service with exit code 1 and one clear line, and does the first no harm', async () => {
    const { code, stdout, stderr } = await runService({ dataDir: service.dataDir, env: {} });

    expect(code).to.equal(1);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr)
      .to.contain(service.dataDir)
      .and.match(/in use by another process\. Stop that process, or set GATE_DATA_DIR/);
    expect(stdout).to.not.contain('is listening');
    expect((await sendDecision(service, decisionEvent())).status).to.equal(202);
  });

  it('is reported like a port in use: exit code 1 and one line', async () => {
    const port = new URL(service.url).port;
    const env = { ...NO_STORE, GATE_PORT: port };
    const { code, stdout, stderr } = await runService({ dataDir: temporaryDirectory(), env });

    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.trimEnd().split('\n')).to.have.length(1);
    expect(stderr).to.contain(`Port ${port}`).and.contain('GATE_PORT');
  });

  it('stops the command line, which says what to do instead', async () => {
    const dataDir = service.dataDir;
    const { code, stdout, stderr } = await runGate({ dataDir, args: ['project', 'list'] });
    const fault = await gateFault(dataDir, 'key', 'issue', '--project', service.project_id);

    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr)
      .to.match(/in use by another process\. Stop the service and run this command again\./)
      .and.not.contain('GATE_DATA_DIR');
    expect(stderr).to.not.match(/^\s+at /m);
    expect(fault).to.be.instanceOf(StoreInUseError);
  });
});
