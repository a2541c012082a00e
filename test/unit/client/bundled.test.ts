import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { bundled } from '../../support/bundle.ts';
import { runCommand } from '../../support/processes.ts';

const CLIENT = fileURLToPath(new URL('../../../client/', import.meta.url));
const BYTES_MAX = 30 * 1024;
const POLICY = 'version: 1\ntools: [search]\nroles: {"*": {allow: [search]}}\nrules: []\n';

const CONFIGURE = `
import { configure, shutdown } from '@gatehouse/client';
const gate = configure();
await shutdown();
console.log(gate.enabled);`;

const GOVERN = `
import { govern } from '@gatehouse/client';
const agent = { name: 'bot', tools: { search: () => 'found' }, run: ({ tools }) => tools.search({}) };
const { run } = await govern(agent, { policy: ${JSON.stringify(POLICY)} });
console.log(await run(''), typeof globalThis.require);`;

describe('the built client', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'gatehouse-bundled-'))));
  afterEach(() => rm(folder, { recursive: true }));

  /** Runs it in a directory without packages. */
  const outputOf = async (source: string): Promise<string> => {
    await writeFile(join(folder, 'program.mjs'), source);
    return (await runCommand(process.execPath, ['program.mjs'], { cwd: folder })).output.trim();
  };

  it('adds an emitter of less than 30 KB, compressed, to an ESM bundle that runs', async () => {
    const bundle = await bundled(CONFIGURE);

    expect(gzipSync(bundle).length).to.be.below(BYTES_MAX);
    expect(await outputOf(bundle)).to.equal('false');
  });

  it('reads a policy in YAML in an ESM bundle, and leaves no trace in the global scope', async () => {
    expect(await outputOf(await bundled(GOVERN))).to.equal('found undefined');
  });

  it('loads no other package before it is used', async () => {
    await cp(join(CLIENT, 'dist'), join(folder, 'dist'), { recursive: true });
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');

    expect(await outputOf(CONFIGURE.replace('@gatehouse/client', './dist/index.js'))).to.equal('false');
  });
});
