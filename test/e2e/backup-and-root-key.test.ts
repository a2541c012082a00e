import { expect } from 'chai';
import { calculateJwkThumbprint, decodeProtectedHeader } from 'jose';
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { resolvePolicy } from '../../client/index.ts';
import { CommandError } from '../../server/cli/command-error.ts';
import { jsonOf } from '../support/accounts.ts';
import { fetchAgent, type FetchedAgent, save } from '../support/agents.ts';
import { base64Of, issue, demoOwner } from '../support/keys.ts';
import { sendDecision, timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { gate, gateFault } from '../support/gate.ts';
import { openToOthers } from '../support/file-modes.ts';
import { checkpointFrom, logText } from '../support/log.ts';
import { runGate, runService } from '../support/processes.ts';
import {
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';
import { everythingOf } from '../support/snapshot.ts';
import { DAY_MS } from '../../server/durations.ts';

/** Follows the steps of docs/operations.md. */
describe('operations on the embedded store', () => {
  it('restore a backup to the same store with the same root key', async () => {
    const dataDir = await storeDirectory();
    const [backup, restored] = [join(temporaryDirectory(), 'backup'), join(temporaryDirectory(), 'restored')];
    const first = await startTestService({ dataDir });
    const { demo } = first;
    const events = Array.from({ length: 60 }, (_, i) =>
      decisionEvent({ occurred_at: timeFromNow(-(i % 3) * DAY_MS) }),
    );
    await sendBatch(first, events);
    const before = await everythingOf(first, demo.project_id);
    const { body: logged } = await checkpointFrom(first, events.length);
    const logKeyBefore = await logText(first, 'vkey');
    const inUse = await gateFault(dataDir, 'backup', '--to', `${backup}-2`);
    await first.stop();

    const made = await runGate({ dataDir, args: ['backup', '--to', backup] });
    const again = await gateFault(dataDir, 'backup', '--to', backup);
    const unfinished = readdirSync(dirname(backup));
    const back = await runGate({ dataDir: restored, args: ['restore', '--from', backup] });
    const over = await gateFault(dataDir, 'restore', '--from', backup);
    const second = await startTestService({ dataDir: restored, env: { GATE_DEMO: '0' } });
    const [event] = events;
    const repost = await sendDecision(second, { ...event, outcome: 'deny' }, { key: demo.key });

    expect([made.code, back.code]).to.deep.equal([0, 0]);
    expect(inUse.message).to.match(/^The data directory .* is in use by another process\./);
    expect(again.message).to.equal(`${backup} already exists. Name a new directory.`);
    expect(over.message).to.equal(`${dataDir} is not empty. Set GATE_DATA_DIR to a new directory.`);
    expect(unfinished).to.deep.equal(['backup']);
    expect(repost.status).to.equal(202);
    expect(await everythingOf(second, demo.project_id)).to.deep.equal(before);
    const restoredLog = { ...second, project_id: demo.project_id };
    expect((await checkpointFrom(restoredLog, events.length)).body).to.equal(logged);
    expect(await logText(restoredLog, 'vkey')).to.equal(logKeyBefore);
    expect([openToOthers(backup), openToOthers(restored)]).to.deep.equal([[], []]);
    await second.stop();
  });

  it('leave no directory that a service would start on when a restore fails', async () => {
    const [backup, restored] = [join(temporaryDirectory(), 'backup'), temporaryDirectory()];
    await gate(await storeDirectory(), 'backup', '--to', backup);
    const schema = join(backup, 'store/metadata/default/projects.sql');
    writeFileSync(schema, Buffer.alloc(statSync(schema).size, 'x'));

    const failed = await gateFault(restored, 'restore', '--from', backup);
    const started = await runService({ dataDir: restored, env: {} });

    expect(failed).to.be.instanceOf(CommandError);
    expect(failed.message).to.contain(`The backup in ${backup} cannot be restored: `);
    expect(failed.message).to.contain(`Is the disk of ${restored} full?`);
    expect(started.code).to.equal(1);
    expect(started.stderr).to.contain(
      `GATE_DATA_DIR is "${restored}"; a restore into it was interrupted. Empty it, and restore again`,
    );
    expect(readdirSync(restored)).not.to.include('signing-key.pem');
  });

  it('report the message of the engine when a backup fails, and leave nothing of it', async () => {
    // The paths of the backup's files are longer than the system accepts.
    const directory = join(
      temporaryDirectory(),
      ...Array<string>(16).fill('long'.repeat(60)),
      'x'.repeat(150),
    );

    const failed = await gateFault(await storeDirectory(), 'backup', '--to', join(directory, 'backup'));

    expect(failed).to.be.instanceOf(CommandError);
    expect(failed.message)
      .to.match(/^The store in .* cannot be backed up: .*DB::/)
      .and.contain(`Is the disk of ${directory}/backup full?`);
    expect(readdirSync(directory)).to.deep.equal([]);
  });

  it('restore nothing from a backup whose files are cut short', async () => {
    const [backup, restored] = [join(temporaryDirectory(), 'backup'), temporaryDirectory()];
    await gate(await storeDirectory(), 'backup', '--to', backup);
    truncateSync(join(backup, 'store/metadata/default/projects.sql'));

    const { message } = await gateFault(restored, 'restore', '--from', backup);

    expect(message).to.equal(`${backup} does not contain a whole backup.`);
    expect(readdirSync(restored)).to.deep.equal([]);
  });

  it('log an error when a root key that was forgotten is back, as in an old backup', async () => {
    const dataDir = await storeDirectory();
    const file = join(dataDir, 'signing-key.pem');
    const old = readFileSync(file);
    const { previous_kid } = await gate<{ previous_kid: string }>(dataDir, 'key', 'rotate');
    await gate(dataDir, 'key', 'forget', '--key', previous_kid);
    writeFileSync(file, old);

    const service = await startTestService({ dataDir });
    await eventually(() => service.output().includes('The root key of this process was forgotten'));
    await service.stop();
  });

  it('keep the root key of GATE_SIGNING_KEY out of the backup, and an older one in the directory, too', async () => {
    const [backup, restored] = [join(temporaryDirectory(), 'backup'), temporaryDirectory()];
    const env = {
      GATE_DATA_DIR: await storeDirectory(),
      GATE_SIGNING_KEY: Buffer.alloc(32, 7).toString('base64'),
    };

    const made = await gate<object>(env, 'backup', '--to', backup);
    const back = await gate<object>(restored, 'restore', '--from', backup);

    const isElsewhere = 'not included: it is in GATE_SIGNING_KEY';
    expect(made).to.include({ root_key: isElsewhere, log_key: 'log-key.pem' });
    expect(back).to.include({
      root_key: `${isElsewhere}, or no service has made one`,
      log_key: 'log-key.pem',
    });
    expect(readdirSync(backup)).to.have.members(['store', 'log-key.pem']);
  });

  it('rotate the root key: old bearer keys and bundles still verify, new ones are signed by the new key', async () => {
    const dataDir = await storeDirectory();
    const old = createPublicKey(createPrivateKey(readFileSync(join(dataDir, 'signing-key.pem'))));
    const { d, x } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
    const kidOfNew = await calculateJwkThumbprint({ kty: 'OKP', crv: 'Ed25519', x: String(x) });
    const env = {
      GATE_SIGNING_KEY: base64Of(d),
      GATE_SIGNING_KEYS_RETIRED: base64Of(old.export({ format: 'jwk' }).x),
    };

    const second = await startTestService({ dataDir, env });
    const { demo } = second;
    const policyOfOld = await pull(second, demo);
    const kidOfOld = await manifestKid(second, demo);
    const sent = await sendDecision(second, decisionEvent(), { key: demo.key });
    const { key } = await issue(second, await demoOwner(second), { scope: 'edit_policy' });
    const change = { system_md: 'new' };
    const saved = await save(second, demo.agent_name, change, { key, projectId: demo.project_id });
    const policyOfNew = await pull(second, demo);

    expect([sent.status, saved.status]).to.deep.equal([202, 200]);
    expect([policyOfOld.origin, policyOfNew.origin]).to.deep.equal(['bundle', 'bundle']);
    expect(policyOfNew.etag).not.to.equal(policyOfOld.etag);
    expect([kidOfOld, decodeProtectedHeader(demo.key).kid]).to.not.include(kidOfNew);
    expect([await manifestKid(second, demo), decodeProtectedHeader(key).kid]).to.deep.equal([
      kidOfNew,
      kidOfNew,
    ]);
    await second.stop();
  });
});

/** Fetches as a client without a pinned key, which verifies against the service's key set. */
function pull({ url }: TestService, { key, agent_name }: TestService['demo']) {
  return resolvePolicy({ agentName: agent_name, key, baseUrl: url });
}

/** The kid in the manifest of the agent's bundle. */
async function manifestKid(service: TestService, { key, agent_name }: TestService['demo']): Promise<string> {
  const { bundle_manifest = '{}' } = await jsonOf<FetchedAgent>(fetchAgent(service, agent_name, { key }));
  return (JSON.parse(bundle_manifest) as { kid: string }).kid;
}
