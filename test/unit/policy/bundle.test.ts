import { getPublicKey, hashes } from '@noble/ed25519';
import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { PolicyError } from '../../../client/errors.ts';
import { verifyBundle, type BundleToVerify } from '../../../client/policy/verify-bundle.ts';
import { compilePolicy } from '../../../server/policy/compile-policy.ts';
import { loadRuntime } from '../../../server/policy/load-runtime.ts';
import { makeBundle } from '../../../server/policy/make-bundle.ts';
import { recordHash } from '../../../server/policy/record-hash.ts';
import type { SigningKey } from '../../../server/policy/sign-bundle.ts';
import { irOf } from './support/engines.ts';

// Only the saved record, signed by the service, installs.

hashes.sha512 = (message) => new Uint8Array(createHash('sha512').update(message).digest());

const KEY: SigningKey = { kid: 'key-1', seed: new Uint8Array(32).fill(7) };
const PUBLIC_KEY = getPublicKey(KEY.seed);

const RECORD = {
  project_id: 'project-1',
  agent_name: 'support-bot',
  version: 3,
  agent_yaml: 'name: support-bot\n',
  policy_yaml: 'version: 1\ntools: [t]\nroles: {"*": {allow: [t]}}\n',
  system_md: 'Be kind.',
};

type Signed = { module: Buffer; manifest: string; signature: string; etag: string };

async function bundleOf(changes: Partial<typeof RECORD> = {}, key = KEY): Promise<Signed> {
  const record = { ...RECORD, ...changes };
  const ir = irOf(record.policy_yaml);
  const record_hash = recordHash(record);
  const compiled = compilePolicy({ ir, runtime: loadRuntime(), recordHash: record_hash });
  const identity = { agent_version_id: 'version-3', created_at: '2026-01-02T03:04:05.678Z' };
  const made = await makeBundle({ record, record_hash, compiled, ...identity }, key);
  if (made.absentReason !== undefined) throw new Error(made.absentReason);
  const { bundle_wasm_b64, bundle_manifest: manifest, bundle_signature_b64: signature, etag } = made;
  return { module: Buffer.from(bundle_wasm_b64, 'base64'), manifest, signature, etag };
}

function received(bundle: Signed, changes: Partial<typeof RECORD> = {}): BundleToVerify {
  const { agent_yaml, policy_yaml, system_md } = { ...RECORD, ...changes };
  return {
    record: {
      agent_yaml,
      policy_yaml,
      system_md,
      bundle_wasm_b64: bundle.module.toString('base64'),
      bundle_manifest: bundle.manifest,
      bundle_signature_b64: bundle.signature,
    },
    publicKey: PUBLIC_KEY,
    agentName: RECORD.agent_name,
    projectId: RECORD.project_id,
  };
}

async function codeOf(bundle: BundleToVerify): Promise<string> {
  try {
    await verifyBundle(bundle);
    return 'verified';
  } catch (error) {
    expect(error).to.be.instanceOf(PolicyError);
    return (error as PolicyError).code;
  }
}

describe('a signed bundle', () => {
  it('has a manifest with these keys in this order, without whitespace', async () => {
    const bundle = await bundleOf();
    const wasm_hash = createHash('sha256').update(bundle.module).digest('hex');
    const { project_id, agent_name, version, agent_yaml, policy_yaml, system_md } = RECORD;
    const parts = [project_id, agent_name, version, agent_yaml, policy_yaml, system_md];
    const record_hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');

    expect(bundle.manifest).to.equal(
      `{"format":"gatehouse-bundle/1","kid":"key-1","project_id":"project-1","agent_name":"support-bot",` +
        `"agent_version_id":"version-3","version":3,"abi":1,"wasm_hash":"${wasm_hash}",` +
        `"record_hash":"${record_hash}","created_at":"2026-01-02T03:04:05.678Z"}`,
    );
    expect(bundle.etag).to.equal(`"${wasm_hash}"`);
  });

  it('verifies, and returns the module', async () => {
    const bundle = await bundleOf();
    const verified = await verifyBundle({ ...received(bundle), heldVersion: 3 });

    expect(Buffer.from(verified.module).equals(bundle.module)).to.equal(true);
    expect(verified.manifest).to.have.property('version', 3);
  });

  it('verifies only with its key, and without a known project', async () => {
    const { projectId: _, ...rest } = received(await bundleOf());

    expect(await codeOf(rest)).to.equal('verified');
    for (const publicKey of [new Uint8Array(32), new Uint8Array(randomBytes(32)), new Uint8Array()])
      expect(await codeOf({ ...rest, publicKey })).to.equal('signature_invalid');
  });

  it('refuses any flipped byte in the manifest or the signature', async () => {
    const whole = received(await bundleOf());
    const manifest = Buffer.from(whole.record.bundle_manifest ?? '');
    const signature = Buffer.from(whole.record.bundle_signature_b64 ?? '', 'base64');

    for (let index = 0; index < manifest.length; index += 7) {
      const bundle_manifest = String(manifest.with(index, (manifest[index] ?? 0) ^ 1));
      expect(await codeOf(changed(whole, { bundle_manifest }))).to.equal('signature_invalid');
    }
    for (let index = 0; index < signature.length; index += 3) {
      const bytes = signature.with(index, (signature[index] ?? 0) ^ 0x10);
      const bundle_signature_b64 = Buffer.from(bytes).toString('base64');
      expect(await codeOf(changed(whole, { bundle_signature_b64 }))).to.equal('signature_invalid');
    }
  });

  it('refuses a flipped byte in the module', async () => {
    const bundle = await bundleOf();
    for (const index of [0, 100, 5_000, bundle.module.length - 1]) {
      const bytes = bundle.module.with(index, (bundle.module[index] ?? 0) ^ 1);
      const bundle_wasm_b64 = Buffer.from(bytes).toString('base64');
      expect(await codeOf(changed(received(bundle), { bundle_wasm_b64 }))).to.equal('wasm_hash_mismatch');
    }
  });

  it('refuses an edit of any text of the record', async () => {
    const bundle = await bundleOf();

    for (const edit of [
      { policy_yaml: `${RECORD.policy_yaml}#` },
      { system_md: 'Be rude.' },
      { agent_yaml: '' },
    ])
      expect(await codeOf(received(bundle, edit))).to.equal('record_hash_mismatch');
  });

  it('refuses the bundle of another agent or project, and an older version', async () => {
    const whole = received(await bundleOf());

    expect(await codeOf({ ...whole, agentName: 'other-bot' })).to.equal('agent_mismatch');
    expect(await codeOf({ ...whole, projectId: 'project-2' })).to.equal('project_mismatch');
    expect(await codeOf({ ...whole, heldVersion: 4 })).to.equal('version_rollback');
    expect(await codeOf({ ...whole, heldVersion: 2 })).to.equal('verified');
  });

  it('refuses another key, a missing part and a part that is not base64', async () => {
    const whole = received(await bundleOf());
    const foreign = received(await bundleOf({}, { kid: 'key-1', seed: new Uint8Array(32).fill(8) }));

    expect(await codeOf(foreign)).to.equal('signature_invalid');
    for (const part of [{ bundle_manifest: '' }, { bundle_signature_b64: null }, { bundle_wasm_b64: null }])
      expect(await codeOf(changed(whole, part))).to.equal('bundle_incomplete');
    expect(await codeOf(changed(whole, { bundle_signature_b64: '%' }))).to.equal('signature_invalid');
    expect(await codeOf(changed(whole, { bundle_wasm_b64: '%' }))).to.equal('wasm_hash_mismatch');
  });

  it('changes its ETag with any edit, and only then', async () => {
    const edits: Partial<typeof RECORD>[] = [
      {},
      { policy_yaml: `${RECORD.policy_yaml}# A comment.\n` },
      { policy_yaml: `${RECORD.policy_yaml}rules: []\n` },
      { system_md: 'Be kind!' },
      { agent_yaml: 'name: support-bot' },
      { version: 4 },
      { agent_name: 'support-bot-2' },
      { project_id: 'project-2' },
    ];
    const etags = await Promise.all(edits.map(async (edit) => (await bundleOf(edit)).etag));

    expect(new Set(etags).size).to.equal(edits.length);
    expect((await bundleOf()).etag).to.equal(etags[0]);
  });
});

function changed(whole: BundleToVerify, changes: Partial<BundleToVerify['record']>): BundleToVerify {
  return { ...whole, record: { ...whole.record, ...changes } };
}
