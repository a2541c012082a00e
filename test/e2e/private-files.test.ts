import { expect } from 'chai';
import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { openEverything, openToOthers } from '../support/file-modes.ts';
import { runGate } from '../support/processes.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

describe('other users of the machine', () => {
  const dataDir = join(temporaryDirectory(), 'data');
  const to = join(temporaryDirectory(), 'export');
  let umask: number;
  before(() => void (umask = process.umask(0o022)));
  after(() => void process.umask(umask));

  it('cannot read the data directory of a running service, or anything in it', async () => {
    const service = await startTestService({ dataDir });
    await sendDecision(service, decisionEvent());

    const open = openToOthers(dataDir);
    await service.stop();

    expect(readdirSync(dataDir)).to.include.members(['clickhouse', 'demo.json', 'signing-key.pem']);
    expect(open).to.deep.equal([]);
  });

  it('cannot read a store that an older version left open, once it is opened again', async () => {
    openEverything(join(dataDir, 'clickhouse'));
    chmodSync(dataDir, 0o755);

    const { code } = await runGate({ dataDir, args: ['export', '--to', to] });

    expect([code, openToOthers(dataDir)]).to.deep.equal([0, []]);
  });

  it('cannot read an export', () => {
    expect([readdirSync(to).includes('manifest.json'), openToOthers(to)]).to.deep.equal([true, []]);
  });
});
