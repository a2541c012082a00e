import { expect } from 'chai';
import { policyYaml, publishedAgent, signedRecord, yamlRecord } from '../../support/platform.ts';
import { startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const POLICY = policyYaml({ allow: ['search'] });

describe('resolve', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, resolve, faultOf } = world;
  beforeEach(() => void ({ mock, signer, key, v1, resolve, faultOf } = world));

  describe('a broken local policy throws', () => {
    for (const [name, text] of [
      ['bad YAML', 'version: [1'],
      ['YAML that is no policy', 'version: 1\nsurprise: true\n'],
      ['an empty file', ''],
    ] as const) {
      it(name, async () => {
        expect((await faultOf({ localPolicy: await temporaryFile('p.yaml', text) })).code).to.equal(
          'policy_invalid',
        );
      });
    }

    it('with line and column', async () => {
      const localPolicy = await temporaryFile(
        'p.yaml',
        'version: 1\ntools: [a]\nroles: {}\nrules: []\noops: 1\n',
      );
      const fault: unknown = await resolve({ localPolicy }).catch((error: unknown) => error);

      expect((fault as Error).message).to.match(/5:1 /);
    });

    it('when the file is missing', async () => {
      expect((await faultOf({ localPolicy: '/no/such/file' })).code).to.equal('local_policy_unreadable');
    });

    it('bad signature, another agent, another project, torn JSON', async () => {
      const files: Record<string, string> = {
        signature: JSON.stringify({ ...v1, bundle_signature_b64: Buffer.alloc(64).toString('base64') }),
        agent: JSON.stringify(await signedRecord(publishedAgent({ agent_name: 'other-bot' }), signer)),
        project: JSON.stringify(await signedRecord(publishedAgent({ project_id: 'p-2' }), signer)),
        torn: JSON.stringify(v1).slice(0, -10),
      };
      for (const [name, text] of Object.entries(files)) {
        const localPolicy = await temporaryFile(`${name}.json`, text);
        const { code } = await faultOf({ localPolicy, publicKey: signer.publicKey, key });
        expect(code, name).to.match(/invalid|mismatch/);
      }
    });
  });

  describe('a local agent record in JSON', () => {
    it('is verified against the pinned key and is the policy', async () => {
      const localPolicy = await temporaryFile('record.json', JSON.stringify(v1));
      const source = await resolve({ localPolicy, publicKey: signer.publicKey });

      expect(source.origin).to.equal('local');
      expect(source.agentVersionId).to.equal(null);
      expect(source.policy.decide({ tool: 'write' }).outcome).to.equal('deny');
      expect(mock.requests).to.deep.equal([]);
    });

    it('is accepted for any project if the key cannot be read', async () => {
      const localPolicy = await temporaryFile('record.json', JSON.stringify(v1));
      const source = await resolve({ localPolicy, publicKey: signer.publicKey }, { GATE_KEY: 'no key' });

      expect(source.origin).to.equal('local');
    });

    it('has its record_hash verified if its texts are all there', async () => {
      const { system_md: _left_out, ...partial } = v1;
      const without = await temporaryFile('record.json', JSON.stringify(partial));
      const changed = await temporaryFile('record.json', JSON.stringify({ ...v1, system_md: 'changed' }));

      expect((await resolve({ localPolicy: without, publicKey: signer.publicKey })).origin).to.equal('local');
      expect((await faultOf({ localPolicy: changed, publicKey: signer.publicKey })).code).to.equal(
        'record_hash_mismatch',
      );
    });

    it('needs a valid pinned public key', async () => {
      const localPolicy = await temporaryFile('record.json', JSON.stringify(v1));

      expect((await faultOf({ localPolicy, key })).code).to.equal('public_key_missing');
      for (const publicKey of ['broken', { kty: 'OKP' }]) {
        expect((await faultOf({ localPolicy, key, publicKey })).code).to.equal('public_key_invalid');
      }
      expect(mock.requests).to.deep.equal([]);
    });

    it('without a bundle is decided by its policy_yaml, unless a signature is required', async () => {
      const localPolicy = await temporaryFile('record.json', JSON.stringify(yamlRecord(publishedAgent())));
      const options = { localPolicy, publicKey: signer.publicKey };

      expect((await resolve(options)).origin).to.equal('local');
      expect((await faultOf({ ...options, requireSignature: true })).code).to.equal('bundle_missing');
    });

    it('ignores a pinned key, even an invalid one, for YAML in a file or in code', async () => {
      const localPolicy = await temporaryFile('policy.yaml', POLICY);
      const broken = { GATE_PUBLIC_KEY: 'broken' };

      expect((await resolve({ localPolicy }, broken)).origin).to.equal('local');
      expect((await resolve({ policy: POLICY }, broken)).origin).to.equal('built-in');
    });

    it('does not require a signature of local YAML', async () => {
      const localPolicy = await temporaryFile('policy.yaml', POLICY);

      expect((await resolve({ localPolicy, requireSignature: true })).origin).to.equal('local');
    });
  });
});
