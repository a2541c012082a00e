import { expect } from 'chai';
import type { MockServer } from '../../support/mock-server.ts';
import {
  conditionally,
  createSigner,
  etagOf,
  publishedAgent,
  yamlRecord,
  type SignedRecord,
} from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld, type PolicyWorld } from '../../support/policy-world.ts';

describe('resolve (spec 4.11)', () => {
  let world: PolicyWorld;
  let mock: MockServer;
  let key: string;
  let v1: SignedRecord;
  let resolve: PolicyWorld['resolve'];
  let faultOf: PolicyWorld['faultOf'];

  beforeEach(async () => {
    world = await startPolicyWorld();
    ({ mock, key, v1, resolve, faultOf } = world);
  });

  afterEach(() => world.close());

  describe('the platform path', () => {
    it('bundle present: it is the policy, seeded with its ETag', async () => {
      const source = await resolve({ key });

      expect(source.origin).to.equal('bundle');
      expect(source.etag).to.equal(etagOf(v1));
      expect(source.agentVersionId).to.equal('v-1');
      expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
      expect(source.policy.decide({ tool: 'transfer' }).outcome).to.equal('needs_approval');
      expect(source.policy.decide({ tool: 'write' }).outcome).to.equal('deny');
      expect(source.policy).to.equal(source.policy);
    });

    it('so that the first refresh is a 304', async () => {
      const source = await resolve({ key });
      const { policy } = source;
      await source.refresh();

      expect(mock.seen(AGENT_ROUTE)[1]?.headers['if-none-match']).to.equal(etagOf(v1));
      expect(source.policy).to.equal(policy);
    });

    it('bundle absent: the policy_yaml engine', async () => {
      mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
      const source = await resolve({ key });

      expect(source.origin).to.equal('yaml');
      expect(source.agentVersionId).to.equal('v-1');
      expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
    });

    it('bundle absent, with null or empty fields: the same', async () => {
      const none = { bundle_wasm_b64: null, bundle_manifest: '', bundle_signature_b64: null };
      mock.on(AGENT_ROUTE, { json: { ...yamlRecord(publishedAgent()), ...none } });

      expect((await resolve({ key })).origin).to.equal('yaml');
    });

    it('bundle absent and GATE_BUNDLE_REQUIRE_SIGNATURE set: raises; an option beats it', async () => {
      mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent())));
      const required = { GATE_BUNDLE_REQUIRE_SIGNATURE: 'Yes' };

      expect(await faultOf({ key }, required)).to.deep.include({ code: 'bundle_missing' });
      expect(await faultOf({ key, requireSignature: true })).to.deep.include({ code: 'bundle_missing' });
      expect((await resolve({ key, requireSignature: false }, required)).origin).to.equal('yaml');
      expect((await resolve({ key }, { GATE_BUNDLE_REQUIRE_SIGNATURE: '0' })).origin).to.equal('yaml');
    });

    it('a 404 raises an error carrying status 404; there is no automatic registration', async () => {
      mock.on(AGENT_ROUTE, { status: 404, json: { code: 'agent_unknown' } });

      expect(await faultOf({ key })).to.deep.equal({ code: 'agent_unknown', status: 404 });
      expect(mock.requests.map(({ method }) => method)).to.not.include('POST');
    });

    it('any other bad answer raises with its status', async () => {
      for (const status of [302, 304, 400, 401, 403, 500, 503]) {
        mock.on(AGENT_ROUTE, { status, headers: { Location: '/elsewhere' } });
        expect(await faultOf({ key })).to.deep.include({ status });
      }
    });

    it('fails loudly for an unreachable platform', async () => {
      expect(await faultOf({ key, baseUrl: 'http://127.0.0.1:1' })).to.deep.include({ code: 'unreachable' });
      for (const fault of ['reset', 'hang', 'slow_body', 'reset_mid_body', 'cut_mid_body'] as const) {
        mock.on(AGENT_ROUTE, { fault });
        expect(await faultOf({ key, timeoutMs: 150 })).to.deep.include({ code: 'unreachable' });
      }
      mock.on(AGENT_ROUTE, { fault: 'torn_json' });
      expect(await faultOf({ key })).to.deep.include({ code: 'record_invalid' });
    });

    it('a timeout longer than a timer of Node can be does not become one of 1 ms', async () => {
      for (const timeoutMs of [2 ** 31, Infinity, 4999.5]) {
        mock.on(AGENT_ROUTE, (request) => ({ ...conditionally(v1)(request), delay_ms: 50 }));
        expect((await resolve({ key, timeoutMs })).origin).to.equal('bundle');
      }
    });

    it('fails loudly for a malformed key, without the network', async () => {
      const [header, claims] = key.split('.') as [string, string];
      const algNone = Buffer.from('{"alg":"none","kid":"x"}').toString('base64url');
      for (const bad of [
        'k',
        'a.b',
        'a.b.c',
        `${key}.x`,
        `${algNone}.${claims}.AA`,
        `${header}.e30.AA`,
        '..',
      ]) {
        expect(await faultOf({ key: bad })).to.deep.include({ code: 'key_malformed' });
      }
      expect(mock.requests).to.deep.equal([]);
    });

    it('fails loudly for an invalid token signature', async () => {
      const [header, , signature] = key.split('.') as [string, string, string];
      const claims = Buffer.from(JSON.stringify({ iss: 'gatehouse', jti: 'j-1', sub: 'p-2' })).toString(
        'base64url',
      );
      const stranger = await createSigner();

      expect(await faultOf({ key: `${header}.${claims}.${signature}` })).to.deep.include({
        code: 'key_signature_invalid',
      });
      expect(await faultOf({ key, publicKey: stranger.publicKey })).to.deep.include({
        code: 'key_signature_invalid',
      });
      expect(mock.seen(AGENT_ROUTE)).to.deep.equal([]);
    });

    it('asks for the agent by its name, whatever that is', async () => {
      const agentName = 'büro/bot 1?#';
      mock.on(`GET /v1/agents/${encodeURIComponent(agentName)}`, conditionally(yamlRecord(publishedAgent())));

      expect((await resolve({ key, agentName })).origin).to.equal('yaml');
    });
  });
});
