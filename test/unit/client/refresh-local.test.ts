import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { open, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PolicySource } from '../../../client/index.ts';
import { policyYaml, publishedAgent, yamlRecord } from '../../support/platform.ts';
import { startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('refresh: a local override', () => {
  const world = forEachTest(startPolicyWorld);
  let { signer, v1, v2, resolveByKey } = world;
  beforeEach(() => void ({ signer, v1, v2, resolveByKey } = world));

  const mayWrite = (source: PolicySource): boolean =>
    source.policy.decide({ tool: 'write' }).outcome === 'allow';

  /** A source whose file is now a named pipe, so that the test decides when a read ends. */
  async function overPipe(): Promise<{ localPolicy: string; source: PolicySource }> {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const source = await resolveByKey({ localPolicy });
    await rm(localPolicy);
    execFileSync('mkfifo', [localPolicy]);
    return { localPolicy, source };
  }

  /** Resolves when a read of the pipe begins. */
  async function openForReader(path: string): Promise<FileHandle> {
    for (;;) {
      try {
        return await open(path, constants.O_WRONLY | constants.O_NONBLOCK);
      } catch (error) {
        expect(error).to.have.property('code', 'ENXIO');
        await sleep(5);
      }
    }
  }

  it('is read again: the same text keeps the policy object, another text replaces it', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const source = await resolveByKey({ localPolicy });
    const { policy } = source;
    await source.refresh();
    expect(source.policy).to.equal(policy);
    await writeFile(localPolicy, policyYaml({ allow: ['write'] }));
    await source.refresh();

    expect(mayWrite(source)).to.equal(true);
  });

  it('throws at refresh when it is broken, and the policy in use stays', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const source = await resolveByKey({ localPolicy });
    await writeFile(localPolicy, 'version: 1\noops');
    const fault: unknown = await source.refresh().catch((error: unknown) => error);

    expect(fault).to.deep.include({ code: 'policy_invalid' });
    expect(source.policy.decide({ tool: 'search' }).outcome).to.equal('allow');
  });

  it('is read once for overlapping refreshes', async () => {
    const { localPolicy, source } = await overPipe();
    const refreshes = [source.refresh(), source.refresh()];
    const writer = await openForReader(localPolicy);
    await writer.writeFile(policyYaml({ allow: ['write'] }));
    await writer.close();
    await Promise.all(refreshes);

    expect(mayWrite(source)).to.equal(true);
  });

  it('never replaces a later blocking read with an earlier one', async () => {
    const { localPolicy, source } = await overPipe();
    const refreshing = source.refresh();
    const writer = await openForReader(localPolicy);
    await rm(localPolicy);
    await writeFile(localPolicy, policyYaml({ allow: ['write'] }));
    source.refreshSync();
    await writer.writeFile(policyYaml({ allow: [] }));
    await writer.close();
    await refreshing;

    expect(mayWrite(source)).to.equal(true);
  });

  it('throws at refresh for a record with a bad signature, an older version or no bundle', async () => {
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
