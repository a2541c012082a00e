import { expect } from 'chai';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/listen.ts';
import { runGate } from '../support/processes.ts';
import {
  PRELOAD,
  ROOT,
  spawnService,
  startTestService,
  storeDirectory,
  temporaryDirectory,
} from '../support/service.ts';

describe('a clone in a directory whose name a URL must encode', () => {
  it('serves the dashboard and the page of the API, and writes nothing beside the clone', async () => {
    const parent = temporaryDirectory();
    const root = join(parent, "ü #1 100%20 it's");
    mkdirSync(root);
    for (const name of ['package.json', 'client', 'clickhouse', 'server'])
      cpSync(join(ROOT, name), join(root, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    // With the options of Node, the source runs, not a bundle of it. Without a cache in the environment, the service sets up its own.
    const env = { NODE_OPTIONS: PRELOAD, NODE_COMPILE_CACHE: '' };

    const service = await startTestService({ root, env });
    const statuses = await Promise.all(
      ['/', '/docs', '/docs/start.js', '/docs/swagger-ui.css'].map(
        async (path) => (await fetch(service.url + path)).status,
      ),
    );
    await service.stop();

    expect(statuses).to.deep.equal([200, 200, 200, 200]);
    expect(readdirSync(parent)).to.deep.equal(["ü #1 100%20 it's"]);
  });
});

describe('a time zone that the engine cannot load', () => {
  it('prevents neither a start nor a command', async () => {
    const env = { TZ: 'JST-9' };
    const service = await startTestService({ env });
    await service.stop();

    const { code, stdout, stderr } = await runGate({ ...service, args: ['project', 'list'], env });

    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.contain(service.project_id);
  });
});

describe('a standard output that nobody reads', () => {
  it('does not end the service', async () => {
    const port = String(await freePort());
    const child = spawnService({ dataDir: await storeDirectory(), env: { GATE_PORT: port } });
    const exited = once(child, 'exit');
    child.stdout?.destroy();

    const isReady = () =>
      fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await eventually(isReady);
    child.ref();
    child.kill('SIGTERM');

    expect(await exited).to.deep.equal([0, null]);
  });
});
