import { runClientProcess } from '../../support/client-process.ts';
import { expect } from 'chai';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createResolvePolicy } from '../../../client/policy/resolve-policy.ts';
import { conditionally, publishedAgent, signedRecord, yamlRecord } from '../../support/platform.ts';
import { AGENT_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('GATE_STATE_DIR', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, signer, key, v1, v2, logger, resolve, faultOf } = world;
  let stateDir: string;
  beforeEach(() => {
    ({ mock, signer, key, v1, v2, logger, resolve, faultOf } = world);
    stateDir = join(mkdtempSync(join(tmpdir(), 'gatehouse-')), 'state');
  });
  afterEach(() => rmSync(stateDir, { recursive: true, force: true }));

  /** Resolves with nothing from earlier processes except the directory. */
  const inNewProcess = (options: object = {}) =>
    createResolvePolicy({ now: () => 0 })({
      agentName: 'support-bot',
      key,
      baseUrl: mock.url,
      logger,
      stateDir,
      ...options,
    });
  const codeOf = (resolving: Promise<unknown>) =>
    resolving.then(
      () => 'resolved',
      ({ code }: { code: string }) => code,
    );

  it('lets a new process refuse an older signed bundle', async () => {
    mock.on(AGENT_ROUTE, conditionally(v2));
    await resolve({ key }, { GATE_STATE_DIR: stateDir });
    mock.on(AGENT_ROUTE, conditionally(v1));

    expect(await codeOf(inNewProcess())).to.equal('version_rollback');
    expect(await codeOf(inNewProcess({ stateDir: undefined }))).to.equal('resolved');
    mock.on(AGENT_ROUTE, conditionally(v2));
    expect(await codeOf(inNewProcess())).to.equal('resolved');
  });

  it('keeps the version of a refresh, in one file for the owner only', async () => {
    const source = await inNewProcess();
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();
    mock.on(AGENT_ROUTE, conditionally(v1));

    expect(await codeOf(inNewProcess())).to.equal('version_rollback');
    const [file = '', ...more] = readdirSync(stateDir);
    expect(file).to.match(/^version-[0-9a-f]{32}-2$/);
    expect(more).to.deep.equal([]);
    expect(statSync(join(stateDir, file)).mode & 0o777).to.equal(0o600);
  });

  it('holds for a refresh when another process has installed a newer version', async () => {
    const source = await inNewProcess();
    mock.on(AGENT_ROUTE, conditionally(v2));
    await inNewProcess();
    mock.on(AGENT_ROUTE, { json: v1, headers: { ETag: '"again"' } });
    await source.refresh();

    expect(source.etag).not.to.equal('"again"');
    expect(logger.lines.at(-1)?.context?.['problem']).to.match(
      /version 1, but version 2 was installed before/,
    );
  });

  it('counts each agent and each project separately', async () => {
    mock.on(AGENT_ROUTE, conditionally(v2));
    await inNewProcess();
    mock.on('GET /v1/agents/other-bot', {
      json: await signedRecord(publishedAgent({ agent_name: 'other-bot' }), signer),
    });
    mock.on(AGENT_ROUTE, { json: await signedRecord(publishedAgent({ project_id: 'p-2' }), signer) });

    expect(await codeOf(inNewProcess({ agentName: 'other-bot' }))).to.equal('resolved');
    expect(await codeOf(inNewProcess({ key: await signer.bearerKey('p-2') }))).to.equal('resolved');
  });

  it('lets a new process refuse an unsigned policy after a signed one', async () => {
    await inNewProcess();
    mock.on(AGENT_ROUTE, conditionally(yamlRecord(publishedAgent({ version: 3 }))));

    expect(await codeOf(inNewProcess())).to.equal('bundle_missing');
    expect(await codeOf(inNewProcess({ stateDir: `${stateDir}/other` }))).to.equal('resolved');
  });

  it('applies to a local agent record as well', async () => {
    mock.on(AGENT_ROUTE, conditionally(v2));
    await inNewProcess();
    const localPolicy = await temporaryFile('agent.json', JSON.stringify(v1));

    expect(await codeOf(inNewProcess({ localPolicy, publicKey: signer.publicKey }))).to.equal(
      'version_rollback',
    );
  });

  it('survives a file that was cut short, and smaller versions left behind by a crash', async () => {
    mock.on(AGENT_ROUTE, conditionally(v2));
    await inNewProcess();
    const [file = ''] = readdirSync(stateDir);
    writeFileSync(join(stateDir, file), '');
    writeFileSync(join(stateDir, file.replace(/2$/, '1')), '');
    writeFileSync(join(stateDir, file.replace(/2$/, 'x')), '');
    mock.on(AGENT_ROUTE, conditionally(v1));

    expect(await codeOf(inNewProcess())).to.equal('version_rollback');
  });

  it('that cannot be used is an error at resolve, and keeps the policy at a refresh', async () => {
    const file = await temporaryFile('state', '');
    expect(await codeOf(inNewProcess({ stateDir: file }))).to.equal('state_unavailable');

    // Node's own recursive mkdir never returns there.
    const { stderr } = await runClientProcess({
      file: 'blocking.ts',
      name: 'refreshSync',
      env: { GATE_BASE_URL: mock.url, GATE_KEY: key, GATE_STATE_DIR: '/proc/nowhere' },
      signal: AbortSignal.timeout(20_000),
    });
    expect(stderr).to.contain('The state directory /proc/nowhere cannot be used: ENOENT');

    const source = await inNewProcess();
    rmSync(stateDir, { recursive: true });
    writeFileSync(stateDir, '');
    mock.on(AGENT_ROUTE, conditionally(v2));
    await source.refresh();
    expect(source.agentVersionId).to.equal('v-1');
    expect((await faultOf({ key, stateDir })).code).to.equal('state_unavailable');
  });
});
