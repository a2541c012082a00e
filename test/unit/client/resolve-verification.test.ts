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

  const changed: [string, string, (good: SignedRecord) => Record<string, unknown>][] = [
    [
      'another signature',
      'signature_invalid',
      () => ({ bundle_signature_b64: Buffer.alloc(64).toString('base64') }),
    ],
    ['a signature that is no base64', 'signature_invalid', () => ({ bundle_signature_b64: '!' })],
    ['no signature', 'bundle_incomplete', () => ({ bundle_signature_b64: undefined })],
    ['no manifest', 'bundle_incomplete', () => ({ bundle_manifest: undefined })],
    ['no module', 'bundle_incomplete', () => ({ bundle_wasm_b64: undefined })],
    ['a manifest alone', 'bundle_incomplete', () => ({ bundle_wasm_b64: null, bundle_signature_b64: null })],
    ['a signature alone', 'bundle_incomplete', () => ({ bundle_wasm_b64: '', bundle_manifest: '' })],
    ['a manifest that is no JSON', 'bundle_invalid', () => ({ bundle_manifest: '{' })],
    ['another manifest', 'signature_invalid', (good) => ({ bundle_manifest: `${good.bundle_manifest} ` })],
    ['another module', 'wasm_hash_mismatch', (good) => ({ bundle_wasm_b64: `AAAA${good.bundle_wasm_b64}` })],
    ['a module that is no base64', 'wasm_hash_mismatch', () => ({ bundle_wasm_b64: '!' })],
    [
      'another policy_yaml',
      'record_hash_mismatch',
      () => ({ policy_yaml: policyYaml({ allow: ['write'] }) }),
    ],
    ['another system_md', 'record_hash_mismatch', () => ({ system_md: 'Be evil.' })],
    ['an agent_yaml that is a number', 'record_invalid', () => ({ agent_yaml: 5 })],
  ];
  for (const [name, code, changes] of changed) {
    it(`${name}: ${code}`, () => expectRefused({ ...v1, ...changes(v1) }, code));
  }

  const resignedWith: [string, string, Record<string, unknown>][] = [
    ['a signed bundle of another agent', 'record_hash_mismatch', { agent_name: 'other-bot' }],
    ['a signed bundle of another project', 'record_hash_mismatch', { project_id: 'p-2' }],
    ['a signed manifest without wasm_hash', 'manifest_invalid', { wasm_hash: undefined }],
    ['a signed manifest of version 0', 'manifest_invalid', { version: 0 }],
    ['a signed manifest whose expires_at is no time', 'manifest_invalid', { expires_at: 'soon' }],
  ];
  for (const [name, code, facts] of resignedWith) {
    it(`${name}: ${code}`, async () => expectRefused(await resigned(v1, facts, signer), code));
  }

  for (const record of [[], null, 'text'])
    it(`${JSON.stringify(record)} in place of a record: record_invalid`, () =>
      expectRefused(record, 'record_invalid'));

  async function expectRefused(json: unknown, code: string): Promise<void> {
    mock.on(AGENT_ROUTE, { json });
    expect((await faultOf({ key })).code).to.equal(code);
  }

  it('a valid bundle of another agent or project', async () => {
    for (const other of [{ agent_name: 'other-bot' }, { project_id: 'p-2' }]) {
      mock.on(AGENT_ROUTE, { json: await signedRecord(publishedAgent(other), signer) });
      expect((await faultOf({ key })).code).to.match(/mismatch/);
    }
  });
});
