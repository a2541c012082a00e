import { expect } from 'chai';
import { mkdirSync } from 'node:fs';
import { verifyRecordProof } from '../../client/proof/index.ts';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { createServiceClock } from '../support/clock.ts';
import { runOnStore } from '../support/engine.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom, logKey, proofOf } from '../support/log.ts';
import { runCommand } from '../support/processes.ts';
import { ask, type CursorPage } from '../support/reads.ts';
import { startTestService, storeDirectory, temporaryDirectory } from '../support/service.ts';
import { filesIn } from '../tamper/attacks.ts';
import { download } from '../tamper/service.ts';
import { DAY_MS } from '../../server/durations.ts';
import { RETENTION_MS } from '../../server/limits.ts';

const MINUTE_MS = 60_000;
const AHEAD_MS = 20 * DAY_MS;
/** Three of them expire in these days. */
const AGES_DAYS = [0, 89, 1, 75, 69, 88, 0];

describe('a log of which records have expired', () => {
  it('lets a new record keep the identity of an expired one, over a kill and merges', async () => {
    const clock = createServiceClock();
    const dataDir = await storeDirectory();
    let service = await startTestService({ dataDir, env: clock.env });
    const expiring = decisionEvent({ occurred_at: timeFromNow(MINUTE_MS - RETENTION_MS) });
    const id = String(expiring['event_id']);
    await sendDecision(service, expiring);
    await checkpointFrom(service, 1);
    clock.passMs(2 * MINUTE_MS);
    const living = { ...expiring, occurred_at: timeFromNow(0), reason: 'first' };
    await sendDecision(service, living);
    await service.kill();

    for (const reason of ['second', 'third']) {
      await runOnStore(dataDir, 'OPTIMIZE TABLE event_identities FINAL');
      service = await startTestService({ dataDir, env: clock.env });
      await proofOf(service, id);
      await sendDecision(service, { ...living, reason });
      const { text } = await ask(service, 'decisions', { query: 'window=90d' });
      const { items } = JSON.parse(text) as CursorPage;
      expect(items.map((item) => item['reason'])).to.deep.equal(['first']);
      await service.stop();
    }
  });

  it('extends its checkpoints from before, and proves the records that remain', async () => {
    const clock = createServiceClock();
    const dataDir = await storeDirectory();
    let service = await startTestService({ dataDir, env: clock.env });
    const events = AGES_DAYS.map((days) => decisionEvent({ occurred_at: timeFromNow(-days * DAY_MS) }));
    for (const event of events) await sendDecision(service, event);
    await checkpointFrom(service, events.length);
    const key = await logKey(service);
    const directory = temporaryDirectory();
    const state = `${directory}/state.json`;

    /** An auditor's downloads, and the verdicts of both verifiers; the time is that of the service. */
    const visit = async (name: string, aheadMs: number) => {
      mkdirSync(`${directory}/${name}`);
      const files = { ...filesIn(`${directory}/${name}`), state };
      await download(service, service.project_id, files);
      const options = { ...files, at: new Date(Date.now() + aheadMs).toISOString() };
      const args = Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]);
      const command = ['-B', 'docs/verify.py', '--project', service.project_id, ...args, '--json'];
      const python = JSON.parse((await runCommand('python3', command)).stdout) as Record<string, unknown>;
      const ours = await auditVerify(service.project_id, options);
      expect(python['exit_code'], ours.text).to.equal(ours.exitCode);
      return ours;
    };
    expect((await visit('before', 0)).exitCode).to.equal(0);

    clock.passMs(AHEAD_MS);
    const after = await visit('expired', AHEAD_MS);

    expect([after.exitCode, after.data]).to.deep.include.members([0]);
    expect(after.data).to.deep.include({ checked: 4, tree_size: events.length, expired: 3, missing: 0 });

    // As the engine drops parts.
    await service.stop();
    await runOnStore(
      dataDir,
      'ALTER TABLE decisions DELETE WHERE occurred_at < now() - INTERVAL 70 DAY SETTINGS mutations_sync = 1',
    );
    service = await startTestService({ dataDir, env: clock.env });
    const fresh = decisionEvent({ occurred_at: new Date(Date.now() + AHEAD_MS).toISOString() });
    await sendDecision(service, fresh);
    const proofs = await Promise.all(
      [events[0], events[4], fresh].map((event) => proofOf(service, String(event?.['event_id']))),
    );
    const gone = await ask(service, `decisions/${String(events[1]?.['event_id'])}/proof`);
    const last = await visit('removed', AHEAD_MS);

    expect(proofs.map((proof) => verifyRecordProof(proof, key))).to.deep.equal(
      proofs.map(() => ({ entry: true, inclusion: true, checkpoint: true })),
    );
    expect(proofs.map(({ index }) => index)).to.deep.equal([0, 4, events.length]);
    expect(gone.status).to.equal(404);
    expect(last.exitCode, last.text).to.equal(0);
    expect(last.data).to.deep.include({ checked: 5, tree_size: events.length + 1, missing: 0, added: 0 });
    await service.stop();
  });
});
