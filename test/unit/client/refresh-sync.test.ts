import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { build } from 'esbuild';
import { runClientProcess } from '../../support/client-process.ts';
import { runCommand } from '../../support/processes.ts';
import { conditionally, policyYaml } from '../../support/platform.ts';
import { AGENT_ROUTE, KEYS_ROUTE, startPolicyWorld } from '../../support/policy-world.ts';
import { temporaryFile } from '../../support/temporary-file.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('refresh in a process that blocks its loop', () => {
  const world = forEachTest(startPolicyWorld);

  const expectNextVersion = async (name: string): Promise<void> => {
    const env = { GATE_BASE_URL: world.mock.url, GATE_KEY: world.key };
    const { reports, stderr } = await runClientProcess({ file: 'blocking.ts', name, env });

    expect(stderr).to.equal('');
    expect(reports).to.deep.equal([['v-2']]);
  };

  it('installs the next version when the service has closed the idle connection', async () => {
    const { mock, v2 } = world;
    mock.on('GET /block', () => {
      mock.closeIdleConnections();
      mock.on(AGENT_ROUTE, conditionally(v2));
      return { text: 'ok' };
    });

    await expectNextVersion('refreshAfterBlock');
  });

  it('installs the next version when its answer came while the loop was blocked for longer than the timeout', async () => {
    const { mock, v1, v2 } = world;
    mock.on(AGENT_ROUTE, { json: v1 }, { json: v2, delay_ms: 200 });
    mock.on('GET /block', { delay_ms: 2_000 });

    await expectNextVersion('refreshAroundBlock');
  });
});

describe('refresh: sync entry points refresh by blocking call', () => {
  const world = forEachTest(startPolicyWorld);
  let { mock, key, v2 } = world;
  beforeEach(() => void ({ mock, key, v2 } = world));

  const run = (name: string, variables: Record<string, string> = {}) =>
    runClientProcess({
      file: 'blocking.ts',
      name,
      env: { GATE_BASE_URL: mock.url, GATE_KEY: key, ...variables },
    });

  it('which keep the policy on 304, replace it on 200 and keep it with a warning on failure', async () => {
    const steps: (() => void)[] = [
      () => mock.on(AGENT_ROUTE, conditionally(v2)),
      () => mock.on(AGENT_ROUTE, { status: 503 }),
      () => mock.on(AGENT_ROUTE, { json: { ...v2, bundle_wasm_b64: 'AAAA' } }),
    ];
    mock.on('GET /next', () => (steps.shift()?.(), { text: 'ok' }));
    const result = await run('refreshSync');

    expect(result.reports).to.deep.equal([
      [true, 'v-1'],
      [false, 'v-2'],
      [false, 'v-2'],
      [false, 'v-2'],
    ]);
    expect(result.stderr.match(/Policy refresh failed/g)).to.have.length(2);
    expect(result.code).to.equal(0);
    expect(mock.seen(KEYS_ROUTE)).to.have.length(1);
  });

  it('which end at their timeout', async () => {
    mock.on('GET /next', () => (mock.on(AGENT_ROUTE, { fault: 'hang' }), { text: 'ok' }));
    const { reports } = await run('refreshSyncAgainstHungServer');
    const [tookMs, version] = reports[0] as [number, string];

    expect(tookMs).to.be.within(1_950, 5_000);
    expect(version).to.equal('v-1');
  });

  it('which have their full time after an immediate failure', async () => {
    const steps = [
      () => mock.on(AGENT_ROUTE, { status: 503 }),
      () => mock.on(AGENT_ROUTE, { json: v2, delay_ms: 500 }),
    ];
    mock.on('GET /next', () => (steps.shift()?.(), { text: 'ok' }));
    const { reports } = await run('refreshSyncAfterQuickFailure');

    expect(reports).to.deep.equal([['v-2']]);
  });

  it('which throw for a broken local policy', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const { reports } = await run('refreshSyncOfBrokenFile', { GATE_LOCAL_POLICY: localPolicy });

    expect(reports).to.deep.equal([[true, 'policy_invalid']]);
    expect(mock.requests).to.deep.equal([]);
  });

  it('say why the worker thread does not run under the permission model, in whole sentences', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const { stderr } = await runClientProcess({
      file: new URL('fixtures/blocking.ts', import.meta.url).href,
      name: 'refreshSync',
      env: { GATE_LOCAL_POLICY: localPolicy, NODE_OPTIONS: '--permission --allow-fs-read=*' },
    });

    expect(stderr)
      .to.include("code: 'worker_unavailable'")
      .and.include('--allow-worker')
      .and.not.match(/permissions\.\./);
  });

  it('work in a program that is given on the command line', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const client = new URL('../../../client/index.ts', import.meta.url).href;
    const program = `
      import { bindPolicy } from ${JSON.stringify(client)};
      const binding = await bindPolicy({ agentName: 'a', localPolicy: ${JSON.stringify(localPolicy)} });
      console.log(binding.startRunSync().preview('search').outcome);`;
    const { output } = await runCommand(process.execPath, ['--input-type=module', '--eval', program]);

    expect(output).to.equal('allow\n');
  });

  it('end if the worker thread ends without an answer', async () => {
    const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
    const preload = await temporaryFile(
      'preload.mjs',
      `import { isMainThread } from 'node:worker_threads';
      if (!isMainThread) process.exit();
      const { wait } = Atomics;
      Atomics.wait = (flag, index, value, ms) => wait(flag, index, value, ms / 100);`,
    );
    const { stderr } = await runClientProcess({
      file: new URL('fixtures/blocking.ts', import.meta.url).href,
      name: 'refreshSync',
      env: { GATE_LOCAL_POLICY: localPolicy, NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` },
    });

    expect(stderr).to.include("code: 'worker_unavailable'").and.include('did not answer in time');
  });

  for (const format of ['esm', 'cjs'] as const)
    it(`say in a bundle (${format}), which lacks the worker thread, that the package must be external`, async () => {
      const localPolicy = await temporaryFile('policy.yaml', policyYaml({ allow: ['search'] }));
      const bundle = join(dirname(localPolicy), format === 'esm' ? 'bundle.mjs' : 'bundle.cjs');
      const entryPoints = [fileURLToPath(new URL('fixtures/blocking.ts', import.meta.url))];
      await build({ entryPoints, outfile: bundle, bundle: true, format, platform: 'node' });
      const env = { GATE_LOCAL_POLICY: localPolicy };
      const { stderr } = await runClientProcess({
        file: pathToFileURL(bundle).href,
        name: 'refreshSync',
        env,
      });

      expect(stderr).to.include("code: 'worker_unavailable'").and.include('leave @gatehouse/client external');
    });
});
