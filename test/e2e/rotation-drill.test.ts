import { expect } from 'chai';
import { call, jsonOf, demoCookie } from '../support/accounts.ts';
import { fetchAgent, policyText, register, type FetchedAgent, type SavedAgent } from '../support/agents.ts';
import { sendDecision } from '../support/audit.ts';
import { Drill } from '../support/drill.ts';
import { decisionEvent } from '../support/events.ts';
import { gate } from '../support/gate.ts';
import { type KeySet, keySetOf } from '../support/keys.ts';
import { type MockServer, startMockServer } from '../support/mock-server.ts';
import { createSigner, publishedAgent, serveKeySet, signedRecord, type Signer } from '../support/platform.ts';
import { startTestService, type TestService } from '../support/service.ts';

type Rotated = { kid: string; previous_kid: string; agents_signed: number; agents_left: number };

describe('the rotation drill', () => {
  let service: TestService;
  after(() => service.stop());

  it('rotates the root key under a running fleet, and no stranger can exploit the moment', async () => {
    const drill = new Drill();
    service = await startTestService();
    const { demo, url, dataDir } = service;
    const port = new URL(url).port;
    const again = { dataDir, env: { GATE_DEMO: '0', GATE_PORT: port } };
    const cookie = await demoCookie(service);
    const agentName = 'drill';
    const manifest = { name: agentName, tools: ['search'] };
    const first = await jsonOf<SavedAgent>(register(service, manifest, { key: demo.key }));
    const oldKeys = await keySetOf(service);
    const [old = expect.fail('there is no key')] = oldKeys.keys;
    drill.name(url, 'https://gate.example');
    drill.name(`127.0.0.1:${port}`, 'gate.example');
    drill.name(old.kid, 'OLD-KEY');
    drill.name(first.agent_version_id, '1');
    const client = { agentName, key: demo.key, baseUrl: url };
    const pinned = { ...client, publicKey: Buffer.from(old.x, 'base64url').toString('base64') };
    const fleet = [drill.client('pinned', pinned), drill.client('first use', client)];
    const each = async (title: string, work: 'start' | 'refresh', clients = fleet) => {
      drill.step(title);
      for (const one of clients) await one[work]();
    };
    await each('The fleet starts.', 'start');

    await service.stop();
    await each('The service is stopped for the rotation.', 'refresh');
    const rotated = await gate<Rotated>(dataDir, 'key', 'rotate');
    drill.name(rotated.kid, 'NEW-KEY');
    drill.step('npm run gate -- key rotate');
    drill.say(
      'operator',
      `kid ${rotated.kid}, previous_kid ${rotated.previous_kid}, agents_signed ${rotated.agents_signed}, agents_left ${rotated.agents_left}`,
    );
    service = await startTestService(again);
    const served = await fetchAgent(service, agentName, { key: demo.key });
    const { bundle_manifest = '{}', version } = await jsonOf<FetchedAgent>(served);
    const keySet = await keySetOf(service);
    await each('The service runs again. The ETag is the same, so nothing is fetched.', 'refresh');
    const edit = { policy_yaml: policyText('after the rotation') };
    const path = `/v1/projects/${service.project_id || demo.project_id}/agents/${agentName}`;
    const saved = await jsonOf<SavedAgent>(call(service, path, { method: 'PUT', cookie, body: edit }));
    drill.name(saved.agent_version_id, '2');
    await each('A policy is saved, signed by the new key.', 'refresh');
    await each('Processes start, with what they had before the rotation.', 'start', [
      drill.client('pinned, new process', pinned),
      drill.client('first use, new process', client),
    ]);
    const sent = await sendDecision(service, decisionEvent(), { key: demo.key });

    expect(rotated).to.include({ previous_kid: old.kid, agents_left: 0 });
    expect(keySet.keys.map(({ kid }) => kid)).to.deep.equal([rotated.kid, old.kid]);
    expect(keySet.successions).to.have.length(1);
    expect([served.headers.get('etag'), version]).to.deep.equal([first.etag, 1]);
    expect(JSON.parse(bundle_manifest)).to.include({ kid: rotated.kid, version: 1 });
    expect(sent.status).to.equal(202);
    expect(fleet.map((one) => one.agentVersionId())).to.deep.equal([
      saved.agent_version_id,
      saved.agent_version_id,
    ]);

    await service.stop();
    await takeOver({ port: Number(port), keySet, agentName, projectId: demo.project_id, drill, each });

    expect(fleet.map((one) => one.agentVersionId())).to.deep.equal([
      saved.agent_version_id,
      saved.agent_version_id,
    ]);
    drill.expectDocumented('Rotation');
  });
});

type Takeover = {
  port: number;
  keySet: KeySet;
  agentName: string;
  projectId: string;
  drill: Drill;
  each: (title: string, work: 'refresh') => Promise<void>;
};

/** Someone answers at the service's address, with all that is public and a key of their own. */
async function takeOver({ port, keySet, agentName, projectId, drill, each }: Takeover): Promise<void> {
  const [mock, stranger]: [MockServer, Signer] = [await startMockServer({ port }), await createSigner()];
  drill.name(stranger.kid, 'STRANGER');
  const agent = publishedAgent({ agent_name: agentName, project_id: projectId, version: 3 });
  const record = await signedRecord(agent, stranger);
  mock.on(`GET /v1/agents/${agentName}`, { json: record, headers: { ETag: '"strange"' } });
  const publish = (...forged: string[]) => {
    const json = {
      keys: [...keySet.keys, stranger.jwk],
      successions: [...keySet.successions, ...forged],
    };
    mock.on('GET /v1/.well-known/keys', { json });
  };
  serveKeySet(mock, [stranger], []);
  await each('Taken over: a policy and a key set of a stranger.', 'refresh');
  publish();
  await each("Taken over: the stranger's key is listed beside the real ones.", 'refresh');
  const [real] = keySet.keys;
  publish(await stranger.vouchFor(stranger, { header: { kid: real?.kid } }));
  await each('Taken over: a forged succession from the real key to the stranger.', 'refresh');
  await mock.close();
}
