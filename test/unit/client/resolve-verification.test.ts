import { expect } from 'chai';
import {
  policyYaml,
  publishedAgent,
  resigned,
  signedRecord,
  type SignedRecord,
} from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('resolve: the bundle must verify; any failure throws and never falls back to policy_yaml', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, v1, faultOf } = world));

  const other = 'AAAA';
  const tampered: [
    string,
    (good: SignedRecord) => Record<string, unknown> | Promise<Record<string, unknown>>,
  ][] = [
    ['another signature', (good) => ({ ...good, bundle_signature_b64: Buffer.alloc(64).toString('base64') })],
    ['no signature', (good) => ({ ...good, bundle_signature_b64: undefined })],
    ['no manifest', (good) => ({ ...good, bundle_manifest: undefined })],
    ['a manifest that is no JSON', (good) => ({ ...good, bundle_manifest: '{' })],
    ['another manifest', (good) => ({ ...good, bundle_manifest: `${good.bundle_manifest} ` })],
    ['another module', (good) => ({ ...good, bundle_wasm_b64: `${other}${good.bundle_wasm_b64}` })],
    ['a module that is no base64', (good) => ({ ...good, bundle_wasm_b64: '!' })],
    ['another policy_yaml', (good) => ({ ...good, policy_yaml: policyYaml({ allow: ['write'] }) })],
    ['another system_md', (good) => ({ ...good, system_md: 'Be evil.' })],
    ['a signed bundle of another agent', (good) => resigned(good, { agent_name: 'other-bot' }, signer)],
    ['a signed bundle of another project', (good) => resigned(good, { project_id: 'p-2' }, signer)],
    ['a signed manifest without wasm_hash', (good) => resigned(good, { wasm_hash: undefined }, signer)],
  ];
  for (const [name, tamper] of tampered) {
    it(name, async () => {
      mock.on(AGENT_ROUTE, { json: await tamper(v1) });

      const { code } = await faultOf({ key });
      expect(code).to.match(/bundle|signature|manifest|hash|mismatch/);
    });
  }

  it('a valid bundle of another agent or project', async () => {
    for (const agent of [
      publishedAgent({ agent_name: 'other-bot' }),
      publishedAgent({ project_id: 'p-2' }),
    ]) {
      mock.on(AGENT_ROUTE, { json: await signedRecord(agent, signer) });
      expect((await faultOf({ key })).code).to.match(/mismatch/);
    }
  });
});
