import { expect } from 'chai';
import { Counter } from 'prom-client';
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

  it('counts due bundles by whether they could be signed again', async () => {
    const counter = new Counter({
      name: 'signings',
      help: '-',
      labelNames: ['result'] as const,
      registers: [],
    });
    const counts = async () =>
      (await counter.get()).values.map(({ labels, value }) => [labels.result, value]);
    const dueAtMs = { v1: 0, left: 0, signed: Number.POSITIVE_INFINITY } as Record<string, number>;
    let nowMs = 1;
    let sign = (): Promise<AgentVersion> => Promise.reject(new Error('the store is away'));
    const reader = new PolicyReader({
      directory: { latestVersionId: () => 'v1' },
      store: { find: () => Promise.resolve(versionOf('v1')) },
      signer: { dueAtMs: ({ etag }) => dueAtMs[etag || 'v1'] ?? 0 },
      sign: () => sign(),
      counter,
      now: () => nowMs,
    });
    const fetchLater = async (): Promise<void> => {
      await reader.find('p', 'a');
      await new Promise(setImmediate);
      nowMs += 10_000;
    };

    expect(await counts()).to.deep.equal([
      ['signed', 0],
      ['failed', 0],
    ]);
    await fetchLater();
    sign = () => Promise.resolve({ ...versionOf('v1'), etag: 'left' });
    await fetchLater();
    sign = () => Promise.resolve({ ...versionOf('v1'), etag: 'signed' });
    await fetchLater();
    await fetchLater();

    expect(await counts()).to.deep.equal([
      ['signed', 1],
      ['failed', 2],
    ]);
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
    note: '',
  };
}
