import { expect } from 'chai';
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resolvePolicy } from '../../client/index.ts';
import { save } from '../support/agents.ts';
import { DAY_MS, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { runCommand } from '../support/processes.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { everythingOf } from '../support/snapshot.ts';

/** What OPERATIONS.md tells people to do, done. */
describe('operations on the embedded store', function () {
  this.timeout(60_000);

  it('a backup restored into a new directory is the same store with the same root key', async () => {
    const dataDir = temporaryDirectory();
    const [backup, restored] = [join(temporaryDirectory(), 'backup'), join(temporaryDirectory(), 'restored')];
    const first = await startTestService({ dataDir });
    const { demo } = first;
    const events = Array.from({ length: 60 }, (_, i) =>
      decisionEvent({ occurred_at: timeFromNow(-(i % 3) * DAY_MS) }),
    );
    await Promise.all(events.map((event) => sendDecision(first, event)));
    const before = await everythingOf(first, demo.project_id);
    const inUse = await runCommand({ dataDir, args: ['backup', '--to', `${backup}-2`] });
    await first.stop();

    const made = await runCommand({ dataDir, args: ['backup', '--to', backup] });
    const again = await runCommand({ dataDir, args: ['backup', '--to', backup] });
    const back = await runCommand({ dataDir: restored, args: ['restore', '--from', backup] });
    const over = await runCommand({ dataDir, args: ['restore', '--from', backup] });
    const second = await startTestService({ dataDir: restored, env: { GATE_DEMO: '0' } });
    const [event] = events;
    const repost = await sendDecision(second, { ...event, outcome: 'deny' }, { key: demo.key });

    expect([inUse, made, again, back, over].map(({ code }) => code)).to.deep.equal([1, 0, 1, 0, 1]);
    expect(inUse.stderr).to.include('in use by another process');
    expect(repost.status).to.equal(202);
    expect(await everythingOf(second, demo.project_id)).to.deep.equal(before);
    expect(statSync(join(backup, 'signing-key.pem')).mode & 0o077).to.equal(0);
    await second.stop();
  });

  it('after the root key was changed, old bearer keys and old bundles still verify, and new ones carry the new key', async () => {
    const dataDir = temporaryDirectory();
    const first = await startTestService({ dataDir });
    const { demo } = first;
    await first.stop();
    const old = createPublicKey(createPrivateKey(readFileSync(join(dataDir, 'signing-key.pem'))));
    const env = {
      GATE_SIGNING_KEY: randomBytes(32).toString('base64'),
      GATE_SIGNING_KEYS_RETIRED: Buffer.from(String(old.export({ format: 'jwk' }).x), 'base64url').toString(
        'base64',
      ),
    };

    const second = await startTestService({ dataDir, env });
    const [kid, policyOfOld] = [await newestKid(second), await pull(second, demo)];
    const sent = await sendDecision(second, decisionEvent(), { key: demo.key });
    const saved = await save(
      second,
      demo.agent_name,
      { system_md: 'new' },
      { key: demo.key, projectId: demo.project_id },
    );
    const policyOfNew = await pull(second, demo);
    await second.stop();

    expect([sent.status, saved.status]).to.deep.equal([202, 200]);
    expect([policyOfOld.origin, policyOfNew.origin]).to.deep.equal(['bundle', 'bundle']);
    expect(policyOfNew.etag).not.to.equal(policyOfOld.etag);
    expect(kid).to.be.a('string');
  });
});

/** As a client without a pinned key: it verifies against the key set that the service answers. */
function pull({ url }: TestService, { key, agent_name }: TestService['demo']) {
  return resolvePolicy({ agentName: agent_name, key, baseUrl: url });
}

async function newestKid({ url }: TestService): Promise<string | undefined> {
  const answer = await fetch(`${url}/v1/.well-known/keys`);
  return ((await answer.json()) as { keys: { kid: string }[] }).keys[0]?.kid;
}
