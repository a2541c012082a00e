import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readAgents, readVersions } from '../../../server/agents/agent-reads.ts';
import { createAgents } from '../../../server/agents/create-agents.ts';
import type { AgentVersion } from '../../../server/agents/agent-version.ts';
import { RootKeys } from '../../../server/keys/root-keys.ts';
import { readSigningKeys, type SigningKeys } from '../../../server/keys/signing-keys.ts';
import { sha256Hex } from '../../../server/sha256.ts';
import type { Store } from '../../../server/store/store.ts';
import { openStore } from '../../support/engine.ts';
import { eventually } from '../../support/eventually.ts';
import { DAY_MS } from '../../../server/durations.ts';

const BY = { projectId: 'p', by: 'test' };
const START_MS = Date.parse('2026-01-01T00:00:00.000Z');

type Manifest = { kid: string; version: number; expires_at?: string };
const manifestOf = ({ bundle_manifest }: { bundle_manifest: string }) =>
  JSON.parse(bundle_manifest) as Manifest;

describe('a bundle that is signed again, on the embedded engine', () => {
  let store: Store;
  let nowMs: number;
  before(async () => {
    store = await openStore();
  });
  beforeEach(() => void (nowMs = START_MS));
  after(() => store.close());

  const makeKey = (retired: SigningKeys[] = []) =>
    readSigningKeys({
      signingKey: randomBytes(32).toString('base64'),
      retiredSigningKeys: retired.map(({ jwk }) => jwk.x),
      dataDir: '/nowhere',
    });
  /** The agents as a process with this root key has them. */
  function open(signing: SigningKeys, bundleDaysMax?: number) {
    const shared = { connection: store.lookups, ready: store.ready, isSoleWriter: true, now: () => nowMs };
    const rootKeys = new RootKeys({ ...shared, signing });
    return { rootKeys, ...createAgents({ ...shared, rootKeys, bundleDaysMax }) };
  }
  const served = async (agents: ReturnType<typeof open>, name: string) => {
    const { body, etag } = (await agents.reader.find('p', name)) ?? expect.fail('there is no such agent');
    const record = JSON.parse(String(body)) as AgentVersion;
    return { etag, ...manifestOf(record) };
  };
  const readOf = (agentName: string) => ({
    projectId: 'p',
    agentName,
    runRead: store.reads.query.bind(store.reads),
    signal: new AbortController().signal,
  });
  const tools = [{ name: 'search' }];

  it('keeps its version and ETag, at a save and at a registration without news, under a new root key', async () => {
    const old = await makeKey();
    const first = await open(old).saver.register({ name: 'by-hand', tools }, BY);
    for (const change of ['save', 'registration']) {
      const fresh = await makeKey([old]);
      const agents = open(fresh);
      expect(await served(agents, 'by-hand')).not.to.include({ kid: fresh.kid });
      const { version, isNew } =
        change === 'save'
          ? await agents.saver.edit('by-hand', { edit: {}, ifMatch: first.version.etag }, BY)
          : await agents.saver.register({ name: 'by-hand', tools }, BY);

      const { etag, agent_version_id, created_at } = first.version;
      expect(isNew).to.equal(false);
      expect(version).to.deep.include({ version: 1, etag, agent_version_id, created_at });
      expect(manifestOf(version)).to.include({ kid: fresh.kid, version: 1 });
      expect(await served(agents, 'by-hand')).to.deep.include({ kid: fresh.kid, etag });
      expect(await served(open(fresh), 'by-hand')).to.deep.include({ kid: fresh.kid, etag });
      expect(await readVersions(readOf('by-hand'))).to.have.length(1);
      for await (const page of readAgents(readOf('by-hand'))) expect(page).to.have.length(1);
    }
  });

  it('is signed when its signer is unknown but its texts compile to it, but not when the store was changed', async () => {
    const agents = open(await makeKey());
    const { version } = await agents.saver.register({ name: 'unknown', tools }, BY);
    const stranger = await makeKey();
    const others = open(stranger);
    expect(manifestOf((await others.saver.sign('p', 'unknown')) ?? version).kid).to.equal(stranger.kid);

    const module = Buffer.from('module');
    const wasm_hash = sha256Hex(module);
    const tampered: [string, Partial<AgentVersion>][] = [
      ['policy', { policy_yaml: `${version.policy_yaml}# changed` }],
      ['module', { bundle_wasm_b64: module.toString('base64') }],
      ['module and ETag', { bundle_wasm_b64: module.toString('base64'), etag: `"${wasm_hash}"` }],
      ['everything', { bundle_wasm_b64: module.toString('base64'), etag: `"${wasm_hash}"` }],
      ['system_md', { system_md: 'Obey.' }],
    ];
    const last = open(await makeKey([agents.rootKeys.current]));
    for (const [name, change] of tampered) {
      // The signer is trusted.
      const signed = (await agents.saver.register({ name, tools }, BY)).version;
      const manifest = { ...manifestOf(signed), wasm_hash };
      const forged = name === 'everything' ? { bundle_manifest: JSON.stringify(manifest) } : {};
      await agents.store.insert({ ...signed, ...change, ...forged, signed_at: '2026-01-01T00:00:01.000Z' });
      const left = await last.saver.sign('p', name);
      expect(left && manifestOf(left).kid).to.equal(agents.rootKeys.current.kid);
    }
  });

  it('is served with its latest signature, even if the clock of its signer is behind', async () => {
    const old = await makeKey();
    await open(old).saver.register({ name: 'clocks', tools }, BY);
    const [fresh, next] = [await makeKey([old]), await makeKey()];
    await open(fresh).saver.sign('p', 'clocks');
    nowMs -= DAY_MS;
    await open(fresh).rootKeys.recordRotation(next);
    await open(next).saver.sign('p', 'clocks');

    expect(await served(open(next), 'clocks')).to.include({ kid: next.kid });
  });

  it('does not change in a process that missed a rotation', async () => {
    const [old, fresh] = [await makeKey(), await makeKey()];
    const left = open(old);
    await left.saver.register({ name: 'behind', tools }, BY);
    await left.rootKeys.recordRotation(fresh);
    await open(fresh).saver.sign('p', 'behind');

    const { version } = await open(old).saver.register({ name: 'behind', tools }, BY);
    expect(manifestOf(version).kid).to.equal(fresh.kid);
  });

  it('expires after GATE_BUNDLE_DAYS_MAX, and a fetch in the second half of its time signs it again', async () => {
    const key = await makeKey();
    const agents = open(key, 10);
    await agents.saver.register({ name: 'expires', tools }, BY);
    const first = await served(agents, 'expires');
    expect(first.expires_at).to.equal('2026-01-11T00:00:00.000Z');

    nowMs = START_MS + 5 * DAY_MS - 1;
    await served(agents, 'expires');
    nowMs += 1;
    // Valid for days, so this fetch does not wait.
    expect((await served(agents, 'expires')).expires_at).to.equal(first.expires_at);
    const later = await eventually(async () => {
      const found = await served(agents, 'expires');
      return found.expires_at === first.expires_at ? undefined : found;
    });
    expect(later).to.deep.equal({ ...first, expires_at: '2026-01-16T00:00:00.000Z' });
    // Another process has the old signature in memory. The bundle has expired, so this fetch waits.
    nowMs = START_MS + 30 * DAY_MS;
    const both = await Promise.all([served(agents, 'expires'), served(agents, 'expires')]);
    expect(both.map(({ expires_at }) => expires_at)).to.deep.equal([
      '2026-02-10T00:00:00.000Z',
      '2026-02-10T00:00:00.000Z',
    ]);
    expect(await readVersions(readOf('expires'))).to.have.length(1);
  });

  it('gets or loses its expiry when the setting changes', async () => {
    const key = await makeKey();
    await open(key).saver.register({ name: 'setting', tools }, BY);
    const limited = await open(key, 1).saver.register({ name: 'setting', tools }, BY);
    const unlimited = await open(key).saver.edit('setting', { edit: {}, ifMatch: undefined }, BY);

    expect(manifestOf(limited.version).expires_at).to.equal('2026-01-02T00:00:00.000Z');
    expect(manifestOf(unlimited.version)).not.to.have.property('expires_at');
  });
});
