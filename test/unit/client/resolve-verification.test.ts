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

  const changed: [string, (good: SignedRecord) => Record<string, unknown>][] = [
    ['another signature', () => ({ bundle_signature_b64: Buffer.alloc(64).toString('base64') })],
    ['no signature', () => ({ bundle_signature_b64: undefined })],
    ['no manifest', () => ({ bundle_manifest: undefined })],
    ['no module', () => ({ bundle_wasm_b64: undefined })],
    ['a manifest alone', () => ({ bundle_wasm_b64: null, bundle_signature_b64: null })],
    ['a signature alone', () => ({ bundle_wasm_b64: '', bundle_manifest: '' })],
    ['a manifest that is no JSON', () => ({ bundle_manifest: '{' })],
    ['another manifest', (good) => ({ bundle_manifest: `${good.bundle_manifest} ` })],
    ['another module', (good) => ({ bundle_wasm_b64: `AAAA${good.bundle_wasm_b64}` })],
    ['a module that is no base64', () => ({ bundle_wasm_b64: '!' })],
    ['another policy_yaml', () => ({ policy_yaml: policyYaml({ allow: ['write'] }) })],
    ['another system_md', () => ({ system_md: 'Be evil.' })],
  ];
  for (const [name, changes] of changed) {
    it(name, () => expectRefused({ ...v1, ...changes(v1) }));
  }

  const resignedWith: [string, Record<string, unknown>][] = [
    ['a signed bundle of another agent', { agent_name: 'other-bot' }],
    ['a signed bundle of another project', { project_id: 'p-2' }],
    ['a signed manifest without wasm_hash', { wasm_hash: undefined }],
    ['a signed manifest whose expires_at is no time', { expires_at: 'soon' }],
  ];
  for (const [name, facts] of resignedWith) {
    it(name, async () => expectRefused(await resigned(v1, facts, signer)));
  }

  async function expectRefused(json: Record<string, unknown>): Promise<void> {
    mock.on(AGENT_ROUTE, { json });
    expect((await faultOf({ key })).code).to.match(/bundle|signature|manifest|hash|mismatch/);
  }

  it('a valid bundle of another agent or project', async () => {
    for (const other of [{ agent_name: 'other-bot' }, { project_id: 'p-2' }]) {
      mock.on(AGENT_ROUTE, { json: await signedRecord(publishedAgent(other), signer) });
      expect((await faultOf({ key })).code).to.match(/mismatch/);
    }
  });
});
