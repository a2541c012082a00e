import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { verifyBundle } from '../../client/policy/verify-bundle.ts';
import { jsonOf } from '../support/accounts.ts';
import {
  fetchAgent,
  policyText,
  register,
  save,
  type FetchedAgent,
  type SavedAgent,
} from '../support/agents.ts';
import { outcomeOf, readDecisions, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { keySetOf } from '../support/keys.ts';
import { readMetrics } from '../support/metrics.ts';
import { exchange, head } from '../support/raw-http.ts';
import { useSharedService } from '../support/shared-service.ts';

describe('GET /v1/agents/{name}', () => {
  const service = useSharedService();
  let etag: string;
  before(async () => {
    etag = (await jsonOf<SavedAgent>(register(service, { name: 'bot', tools: ['search'] }))).etag;
  });

  it("returns the agent's record with the SHA-256 of the module as ETag", async () => {
    const response = await fetchAgent(service, 'bot');
    const record = await jsonOf<FetchedAgent>(response);
    const wasm = Buffer.from(record.bundle_wasm_b64 ?? '', 'base64');

    expect(response.status).to.equal(200);
    expect(record).to.have.all.keys(
      'agent_id',
      'agent_version_id',
      'version',
      'agent_yaml',
      'policy_yaml',
      'system_md',
      'bundle_wasm_b64',
      'bundle_manifest',
      'bundle_signature_b64',
    );
    expect(response.headers.get('etag')).to.equal(`"${createHash('sha256').update(wasm).digest('hex')}"`);
    expect(response.headers.get('cache-control')).to.equal('private, no-cache');
    expect(response.headers.get('vary')).to.equal('Authorization');
  });

  it('serves a bundle that the client verifies against the key set', async () => {
    const record = await jsonOf<FetchedAgent>(fetchAgent(service, 'bot'));
    const { keys } = await keySetOf(service);
    const publicKey = new Uint8Array(Buffer.from(keys[0]?.x ?? '', 'base64url'));

    const verified = await verifyBundle({
      record,
      publicKey,
      agentName: 'bot',
      projectId: service.project_id,
    });

    expect(verified.manifest).to.include({ agent_version_id: record.agent_version_id, version: 1 });
  });

  it('answers 404 agent_unknown for an agent that is not registered', async () => {
    expect(await outcomeOf(await fetchAgent(service, 'nobody'))).to.deep.equal({
      status: 404,
      code: 'agent_unknown',
    });
  });

  it('returns 401 for a bad key whether or not the agent exists', async () => {
    expect((await fetchAgent(service, 'bot', { key: 'x' })).status).to.equal(401);
    expect((await fetchAgent(service, 'nobody', { key: 'x' })).status).to.equal(401);
  });

  const conditions: [string, (etag: string) => string, number][] = [
    ['the current ETag', (tag) => tag, 304],
    ['a list with it', (tag) => `"a", ${tag} ,"b"`, 304],
    ['its weak form', (tag) => `W/${tag}`, 304],
    ['*', () => '*', 304],
    ['another ETag', () => '"0000"', 200],
    ['a list with it and empty elements', (tag) => `, "a,b",,${tag},`, 304],
    ['the ETag without its quotes', (tag) => tag.slice(1, -1), 200],
    ['a lower-case w/', (tag) => `w/${tag}`, 200],
    ['a list with an unquoted tag', (tag) => `a, ${tag}`, 200],
    ['a list without commas', (tag) => `"a" ${tag}`, 200],
    ['* in a list', (tag) => `*, ${tag}`, 200],
    ['an ETag that begins like it', (tag) => `${tag.slice(0, -1)}0"`, 200],
    ['nothing', () => '', 200],
  ];
  for (const [title, condition, status] of conditions) {
    it(`answers ${status} to If-None-Match with ${title}, through fetch and on a raw socket`, async () => {
      const headers = { 'If-None-Match': condition(etag) };
      const fetched = await fetchAgent(service, 'bot', { headers });
      const raw = await exchange(
        service.url,
        head(
          '/v1/agents/bot',
          { Authorization: `Bearer ${service.key}`, ...headers, Connection: 'close' },
          'GET',
        ),
      );

      expect(fetched.status).to.equal(status);
      expect(raw.status).to.equal(status);
      expect([fetched.headers.get('etag'), raw.headers['etag']]).to.deep.equal([etag, etag]);
      if (status === 304) expect([await fetched.text(), raw.body]).to.deep.equal(['', '']);
    });
  }

  it('changes the ETag with every edit: the policy, a comment in it, system_md, agent_yaml', async () => {
    await register(service, { name: 'edits', tools: ['search'] });
    const edits = [
      { policy_yaml: policyText('one') },
      { policy_yaml: policyText('two') },
      { system_md: 'prompt' },
      { agent_yaml: 'name: edits\n' },
    ];
    const tags = new Set<string>([(await jsonOf<SavedAgent>(save(service, 'edits', {}))).etag]);
    for (const edit of edits) tags.add((await jsonOf<SavedAgent>(save(service, 'edits', edit))).etag);

    expect(tags.size).to.equal(5);
  });

  it('stamps the next decision with the saved version, and a decision of an unknown agent with none', async () => {
    await register(service, { name: 'stamped', tools: ['search'] });
    await sendDecision(service, decisionEvent({ agent_name: 'stamped' }));
    const { agent_version_id } = await jsonOf<SavedAgent>(save(service, 'stamped', { system_md: 'new' }));
    await sendDecision(service, decisionEvent({ agent_name: 'stamped', agent_version_id: 'forged' }));
    await sendDecision(service, decisionEvent({ agent_name: 'unregistered' }));

    const [newest] = (await readDecisions(service, { agent: 'stamped' })).items;
    const [unregistered] = (await readDecisions(service, { agent: 'unregistered' })).items;
    expect(newest?.agent_version_id).to.equal(agent_version_id);
    expect(unregistered?.agent_version_id).to.equal('');
  });

  it('counts a fetch that was not modified', async () => {
    const series = 'gate_policy_fetch_total{result="not_modified"}';
    const earlier = (await readMetrics(service)).value(series);
    await fetchAgent(service, 'bot', { headers: { 'If-None-Match': etag } });

    expect((await readMetrics(service)).value(series)).to.equal(earlier + 1);
  });
});
