import { expect } from 'chai';
import type { AgentVersion } from '../../../server/agents/agent-version.ts';
import { PolicyReader } from '../../../server/agents/policy-reader.ts';

describe('PolicyReader', () => {
  it('finds the saved version after a save, even while an older read is running', async () => {
    let latest = 'v1';
    const reads: ((version: AgentVersion) => void)[] = [];
    const reader = new PolicyReader({
      directory: { latestVersionId: () => latest },
      store: { find: () => new Promise((resolve) => reads.push(resolve)) },
      signer: { dueAtMs: () => Number.POSITIVE_INFINITY },
      sign: () => expect.fail('nothing is due'),
      now: () => 0,
    });
    const before = reader.find('p', 'a');
    await Promise.resolve();
    latest = 'v2';
    const after = [reader.find('p', 'a'), reader.find('p', 'a')];
    await Promise.resolve();
    reads[0]?.(versionOf('v1'));
    reads[1]?.(versionOf('v2'));

    expect((await before)?.agent_version_id).to.equal('v1');
    expect((await Promise.all(after)).map((served) => served?.agent_version_id)).to.deep.equal(['v2', 'v2']);
    expect(reads).to.have.length(2);
  });
});

function versionOf(agent_version_id: string): AgentVersion {
  return {
    project_id: 'p',
    agent_name: 'a',
    version: 1,
    created_at: '',
    agent_version_id,
    agent_id: '',
    created_by: '',
    tools: [],
    agent_yaml: '',
    policy_yaml: '',
    system_md: '',
    bundle_wasm_b64: '',
    bundle_manifest: '',
    bundle_signature_b64: '',
    etag: '',
    signed_at: '',
  };
}
