import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import type { PolicySource } from '../../../client/index.ts';
import {
  policyYaml,
  publishedAgent,
  yamlRecord,
  type SignedRecord,
  type Signer,
} from '../../support/platform.ts';
import { startPolicyWorld, type PolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';

describe('refresh (spec 4.11)', () => {
  let world: PolicyWorld;
  let signer: Signer;
  let v1: SignedRecord;
  let v2: SignedRecord;
  let resolveByKey: PolicyWorld['resolveByKey'];

  beforeEach(async () => {
    world = await startPolicyWorld();
    ({ signer, v1, v2, resolveByKey } = world);
  });

  afterEach(() => world.close());

  const mayWrite = (source: PolicySource): boolean =>
    source.policy.decide({ tool: 'write' }).outcome === 'allow';

  describe('a local override', () => {
    it('is read again: the same text keeps the same policy object, another swaps it', async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
      const source = await resolveByKey({ localPolicy });
      const { policy } = source;
      await source.refresh();
      expect(source.policy).to.equal(policy);
      await writeFile(localPolicy, policyYaml({ allow: ['write'] }));
      await source.refresh();

      expect(mayWrite(source)).to.equal(true);
    });

    it('that broke raises at refresh, and the policy in hand stays', async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
      const source = await resolveByKey({ localPolicy });
      await writeFile(localPolicy, 'version: 1\noops');
      const fault: unknown = await source.refresh().catch((error: unknown) => error);

      expect(fault).to.deep.include({ code: 'policy_invalid' });
      expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
    });

    it('in JSON with a bad signature, an older version or no bundle any more raises at refresh', async () => {
      const broken = [
        { ...v2, bundle_signature_b64: Buffer.alloc(64).toString('base64') },
        v1,
        yamlRecord(publishedAgent({ version: 3 })),
      ];
      for (const record of broken) {
        const localPolicy = await temporaryFile('record.json', JSON.stringify(v2));
        const source = await resolveByKey({ localPolicy, publicKey: signer.publicKey });
        await writeFile(localPolicy, JSON.stringify(record));
        const fault: unknown = await source.refresh().catch((error: unknown) => error);

        expect(fault).to.have.property('name', 'PolicyError');
        expect(mayWrite(source)).to.equal(true);
      }
    });
  });
});
