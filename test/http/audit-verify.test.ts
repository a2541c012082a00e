import { expect } from 'chai';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sendDecision } from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom } from '../support/log.ts';
import { runGate } from '../support/processes.ts';
import { temporaryDirectory } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';

const EVENTS = 3;

describe('npm run gate -- audit verify', () => {
  const service = useSharedService();
  const directory = temporaryDirectory();
  const receipts = join(directory, 'receipts.txt');
  const state = join(directory, 'state.json');

  before('events with receipts', async () => {
    const headers = { 'Gate-Want-Receipt': '1' };
    const answers = await Promise.all(
      Array.from({ length: EVENTS }, () => sendDecision(service, decisionEvent(), { headers })),
    );
    writeFileSync(receipts, answers.map((answer) => `${answer.headers.get('gate-receipt')}\n`).join(''));
    await checkpointFrom(service, EVENTS);
  });

  /** In the data directory of the running service, which holds its lock: the command must not open it. */
  async function gate(...args: string[]) {
    const project = ['--project', service.project_id, '--url', service.url, '--bearer', service.key];
    const { code, stdout, stderr } = await runGate({
      dataDir: service.dataDir,
      args: ['audit', ...args, ...project],
    });
    return { code, stdout, stderr };
  }

  it('verifies the records and receipts of a running service, and keeps a state', async () => {
    const { code, stdout, stderr } = await gate('verify', '--receipts', receipts, '--state', state, '--json');

    expect([code, stderr]).to.deep.equal([0, '']);
    const { checked, tree_size, verdict, receipts: counted } = JSON.parse(stdout) as Record<string, unknown>;
    expect([checked, tree_size, verdict]).to.deep.equal([EVENTS, EVENTS, 'holds']);
    expect(counted).to.deep.equal({ checked: EVENTS, missing: 0, too_new: 0, invalid: 0 });
    expect(existsSync(state)).to.equal(true);
  });

  it('reports in words what it found, and ends with the exit code of the verdict', async () => {
    const none = join(directory, 'none.txt');
    writeFileSync(none, 'xxx\n');
    const unreadable = await gate('verify', '--receipts', none);
    const plain = await gate('verify');

    expect([unreadable.code, plain.code]).to.deep.equal([1, 0]);
    expect(unreadable.stderr).to.equal('The receipts have a line that is not a receipt: xxx\n');
    expect(plain.stdout).to.match(
      /^Verdict: holds\.\nSize of the log: 3\.\nRecords: 3 checked, 0 altered, 0 missing,/,
    );
  });

  it('hints at a wrong id if there is nothing to verify, with JSON on standard error', async () => {
    const args = ['audit', 'verify', '--project', 'nope', '--url', service.url, '--json'];

    const { code, stdout, stderr } = await runGate({ dataDir: service.dataDir, args });

    expect([code, (JSON.parse(stdout) as { verdict: string }).verdict]).to.deep.equal([0, 'holds']);
    expect(stderr).to.match(/^There is nothing to verify: .* Is its id right\?\n$/);
  });

  it('mirrors the log into a directory', async () => {
    const to = join(directory, 'log');

    const { code, stdout } = await gate('mirror', '--to', to);

    expect([code, stdout]).to.deep.equal([
      0,
      `${to} holds the log up to size 3 (0 before). Files fetched: 2.\n`,
    ]);
    expect(existsSync(join(to, 'tile/0/000.p/3'))).to.equal(true);
  });
});

describe('npm run gate -- audit verify, with more records than a page of an export', () => {
  const service = useSharedService();
  const records = 6000;

  it('finds each of them in the log', async () => {
    for (let sent = 0; sent < records; sent += 1000) {
      const events = Array.from({ length: 1000 }, () => decisionEvent());
      expect((await batchOutcome(sendBatch(service, events))).accepted).to.equal(1000);
    }
    await checkpointFrom(service, records);
    const args = ['audit', 'verify', '--project', service.project_id, '--url', service.url, '--json'];

    const { stdout } = await runGate({ dataDir: service.dataDir, args });

    const { verdict, checked, added, too_new } = JSON.parse(stdout) as Record<string, unknown>;
    expect({ verdict, checked, added, too_new }).to.deep.equal({
      verdict: 'holds',
      checked: records,
      added: 0,
      too_new: 0,
    });
  });
});
