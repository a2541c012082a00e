import { expect } from 'chai';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PRELOAD, ROOT, startTestService, temporaryDirectory } from '../support/service.ts';

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
