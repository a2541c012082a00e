import { expect } from 'chai';
import { ValueError } from '../../../client/errors.ts';
import { conditionally, createSigner, etagOf, publishedAgent, yamlRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('resolve: the platform path', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, key, v1, resolve, faultOf } = world;
  beforeEach(() => void ({ mock, key, v1, resolve, faultOf } = world));

  it('uses the bundle and its ETag', async () => {
    const source = await resolve({ key });

    expect(source.origin).to.equal('bundle');
    expect(source.etag).to.equal(etagOf(v1));
    expect(source.agentVersionId).to.equal('v-1');
    expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
    expect(source.policy.decide({ tool: 'transfer' }).outcome).to.equal('needs_approval');
    expect(source.policy.decide({ tool: 'write' }).outcome).to.equal('deny');
    expect(source.policy).to.equal(source.policy);
  });

  it('uses policy_yaml without a bundle', async () => {
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
    const source = await resolve({ key });

    expect(source.origin).to.equal('yaml');
    expect(source.agentVersionId).to.equal('v-1');
    expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
  });

  it('uses policy_yaml if all fields of the bundle are null or empty', async () => {
    const none = { bundle_wasm_b64: null, bundle_manifest: '', bundle_signature_b64: null };
    mock.on(AGENT_ROUTE, { json: { ...yamlRecord(publishedAgent()), ...none } });

    expect((await resolve({ key })).origin).to.equal('yaml');
  });

  it('throws without a bundle under GATE_BUNDLE_REQUIRE_SIGNATURE, which the option overrides', async () => {
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
    const required = { GATE_BUNDLE_REQUIRE_SIGNATURE: 'Yes' };

    expect((await faultOf({ key }, required)).code).to.equal('bundle_missing');
    expect((await faultOf({ key, requireSignature: true })).code).to.equal('bundle_missing');
    expect((await resolve({ key, requireSignature: false }, required)).origin).to.equal('yaml');
    expect((await resolve({ key }, { GATE_BUNDLE_REQUIRE_SIGNATURE: '0' })).origin).to.equal('yaml');
  });

  it('throws with status 404 for an unknown agent, and does not register it', async () => {
    mock.on(AGENT_ROUTE, { status: 404, json: { code: 'agent_unknown' } });

    expect(await faultOf({ key })).to.deep.equal({ code: 'agent_unknown', status: 404 });
    expect(mock.requests.map(({ method }) => method)).to.not.include('POST');
  });

  it('throws with the status of any other error response', async () => {
    for (const status of [302, 304, 400, 401, 403, 500, 503]) {
      mock.on(AGENT_ROUTE, { status, headers: { Location: '/elsewhere' } });
      expect(await faultOf({ key })).to.deep.include({ status });
    }
  });

  it('reports why the service refused', async () => {
    const detail = 'The bearer key lacks the scope fetch_policy';
    mock.on(AGENT_ROUTE, { status: 403, json: { code: 'forbidden', detail } });

    const error = await resolve({ key }).catch((reason: unknown) => reason);
    expect((error as Error).message).to.equal(
      `The request for the policy was answered with 403 forbidden: ${detail}`,
    );
  });

  it('rejects a name that cannot be part of a URL', async () => {
    const error = await resolve({ key, agentName: 'a\ud800' }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ValueError);
    expect((error as Error).message)
      .to.contain('agentName')
      .and.to.contain('well-formed');
  });

  it('throws if the platform is unreachable', async () => {
    expect((await faultOf({ key, baseUrl: 'http://127.0.0.1:1' })).code).to.equal('unreachable');
    for (const fault of ['reset', 'hang', 'slow_body', 'reset_mid_body', 'cut_mid_body'] as const) {
      mock.on(AGENT_ROUTE, { fault });
      expect((await faultOf({ key, timeoutMs: 150 })).code).to.equal('unreachable');
    }
    mock.on(AGENT_ROUTE, { fault: 'torn_json' });
    expect((await faultOf({ key })).code).to.equal('record_invalid');
  });

  it('a timeout beyond the range of setTimeout does not become 1 ms', async () => {
    for (const timeoutMs of [2 ** 31, Infinity, 4999.5]) {
      mock.on(AGENT_ROUTE, (request) => ({ ...conditionally(v1)(request), delay_ms: 50 }));
      expect((await resolve({ key, timeoutMs })).origin).to.equal('bundle');
    }
  });

  it('throws for a malformed key, without using the network', async () => {
    const [header, claims] = key.split('.') as [string, string];
    const algNone = Buffer.from('{"alg":"none","kid":"x"}').toString('base64url');
    for (const bad of ['k', 'a.b', 'a.b.c', `${key}.x`, `${algNone}.${claims}.AA`, `${header}.e30.AA`, '..'])
      expect((await faultOf({ key: bad })).code).to.equal('key_malformed');
    expect(mock.requests).to.deep.equal([]);
  });

  it('throws if the signature of the key is invalid', async () => {
    const [header, , signature] = key.split('.') as [string, string, string];
    const json = JSON.stringify({ iss: 'gatehouse', jti: 'j-1', sub: 'p-2' });
    const claims = Buffer.from(json).toString('base64url');
    const stranger = await createSigner();

    expect((await faultOf({ key: `${header}.${claims}.${signature}` })).code).to.equal(
      'key_signature_invalid',
    );
    expect((await faultOf({ key, publicKey: stranger.publicKey })).code).to.equal('signing_key_untrusted');
    expect(mock.seen(AGENT_ROUTE)).to.deep.equal([]);
  });

  it('encodes the name of the agent in the path', async () => {
    const agentName = 'büro/bot 1?#';
    mock.on(`GET /v1/agents/${encodeURIComponent(agentName)}`, conditionally(yamlRecord(publishedAgent())));

    expect((await resolve({ key, agentName })).origin).to.equal('yaml');
  });
});
