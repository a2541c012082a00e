import { expect } from 'chai';
import { createServer, type Server } from 'node:net';
import { parseNote, signaturesBy, verifierKeyText, verifyCheckpoint } from '../../client/proof/index.ts';
import { HOUR_MS } from '../../server/durations.ts';
import { sendDecision } from '../support/audit.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { jsonOf } from '../support/accounts.ts';
import { askLog, checkpointFrom, logKey, logText, proofOf } from '../support/log.ts';
import { startTestService } from '../support/service.ts';
import { startWitness, type TestWitness } from '../support/witness.ts';
import { listen } from '../support/listen.ts';

/** A witness that accepts connections but never answers. */
async function startSilentServer() {
  const server = createServer();
  return { server, port: await listen(server) };
}

describe('witnesses', () => {
  const witnesses: TestWitness[] = [];
  let silentServer: Server | undefined;

  after(async () => {
    silentServer?.close();
    await Promise.all(witnesses.map((witness) => witness.close()));
  });

  it('sign checkpoints that extend earlier ones; refusing, lying or silent ones delay nothing', async () => {
    for (const name of ['honest', 'forked', 'lying', 'silent'])
      witnesses.push(await startWitness(`witness.example/${name}`));
    const [honest, forked, lying, silent] = witnesses as [TestWitness, TestWitness, TestWitness, TestWitness];
    const { server, port } = await startSilentServer();
    silentServer = server;
    const before = await startTestService();
    await sendDecision(before, decisionEvent());
    const first = await checkpointFrom(before, 1);
    const key = await logKey(before);
    const vkey = await logText(before, 'vkey');
    const events = [decisionEvent(), decisionEvent()];
    for (const event of events) await sendDecision(before, event);
    await checkpointFrom(before, 3);
    await before.stop();
    for (const witness of witnesses) witness.trust(vkey);
    // Both have seen the log with one entry, one of them with another entry.
    honest.seen.set(first.origin, first);
    forked.seen.set(first.origin, { ...first, root: new Uint8Array(32) });
    const lie = Buffer.alloc(76, 1);
    lie.writeUInt32BE(lying.key.keyId);
    lying.misbehave = () => ({ status: 200, text: `— ${lying.key.name} ${lie.toString('base64')}\n` });
    const deaf = silent.setting.replace(/^\S+ /, `http://127.0.0.1:${port}/ `);
    const env = { GATE_WITNESSES: [deaf, forked.setting, lying.setting, honest.setting].join() };

    let service = await startTestService({ dataDir: before.dataDir, env });
    const text = await eventually(async () => {
      const checkpoint = await logText(service, 'checkpoint');
      return checkpoint.includes(honest.key.name) ? checkpoint : undefined;
    });

    const signed = verifyCheckpoint(text, key);
    expect(signaturesBy(honest.key, signed)).to.have.length(1);
    expect(signed.signatures.map(({ name }) => name)).to.deep.equal([key.name, honest.key.name]);
    expect(honest.answered).to.deep.equal([409, 200]);
    expect(forked.answered).to.deep.equal([409, 422]);
    expect(honest.seen.get(key.name)).to.deep.include({ size: signed.size });
    const listed = await jsonOf<{ items: object[] }>(askLog(service, 'witnesses'));
    expect(listed.items).to.have.length(4);
    expect(listed.items[0]).to.deep.equal({
      name: silent.key.name,
      vkey: verifierKeyText(silent.key),
      size: 0,
      checkpoint: null,
    });
    expect(listed.items[3]).to.deep.include({ name: honest.key.name, size: signed.size, checkpoint: text });
    expect(service.output()).to.include('A witness refused a checkpoint');
    const proof = await proofOf(service, String(events[0]?.['event_id']));
    expect(signaturesBy(honest.key, parseNote(proof.checkpoint))).to.have.length(1);

    await service.stop();
    service = await startTestService({ dataDir: before.dataDir });
    expect(await logText(service, 'checkpoint')).to.equal(text);
    await service.stop();
  });

  it('sign checkpoints with a new key that only their old one has signed', async () => {
    const [old, renewed] = [
      await startWitness('witness.example/renewed'),
      await startWitness('witness.example/renewed'),
    ];
    witnesses.push(old, renewed);
    const before = await startTestService({ env: { GATE_WITNESSES: old.setting } });
    const key = await logKey(before);
    for (const witness of [old, renewed]) witness.trust(await logText(before, 'vkey'));
    await sendDecision(before, decisionEvent());
    await eventually(async () => (await logText(before, 'checkpoint')).includes(old.key.name));
    await before.stop();

    const env = { GATE_WITNESSES: renewed.setting };
    const after = await startTestService({ dataDir: before.dataDir, env });
    const checkpoint = await eventually(async () => {
      const text = await logText(after, 'checkpoint');
      const signed = verifyCheckpoint(text, key);
      return signaturesBy(renewed.key, signed).length > 0 ? text : undefined;
    });

    const { items } = await jsonOf<{ items: object[] }>(askLog(after, 'witnesses'));
    await after.stop();
    expect(items).to.deep.equal([
      { name: renewed.key.name, vkey: verifierKeyText(renewed.key), size: 1, checkpoint },
    ]);
  });

  it('sign a log for a service whose offer another service has overtaken', async () => {
    const witness = await startWitness('witness.example/overtaken');
    witnesses.push(witness);
    const service = await startTestService({ env: { GATE_WITNESSES: witness.setting } });
    witness.trust(await logText(service, 'vkey'));
    // The witness has signed size 2 by the time it gets the offer of size 1.
    witness.misbehave = async () => {
      witness.misbehave = undefined;
      await sendDecision(service, decisionEvent());
      const grown = await checkpointFrom(service, 2);
      witness.seen.set(grown.origin, grown);
      return { status: 409, text: '2\n', type: 'text/x.tlog.size' };
    };

    await sendDecision(service, decisionEvent());
    await eventually(() => witness.answered.length > 1 || service.output().includes('A witness has seen'));
    await service.stop();

    expect(service.output()).not.to.include('A witness has seen more of a log than there is');
    expect(witness.answered).to.deep.equal([409, 200]);
  });

  it('sign even after the clock was set back below the time of their last signature', async () => {
    const witness = await startWitness('witness.example/set-back');
    witnesses.push(witness);
    const clock = createServiceClock();
    clock.passMs(3 * HOUR_MS);
    const env = { ...clock.env, GATE_WITNESSES: witness.setting };
    const before = await startTestService({ env });
    witness.trust(await logText(before, 'vkey'));
    const signed = (size: number) =>
      eventually(() => [...witness.seen.values()].some((checkpoint) => checkpoint.size === size));
    await sendDecision(before, decisionEvent());
    await signed(1);
    await before.stop();

    clock.passMs(-3 * HOUR_MS);
    const after = await startTestService({ dataDir: before.dataDir, env });
    await sendDecision(after, decisionEvent());

    await signed(2);
    await after.stop();
  });
});
