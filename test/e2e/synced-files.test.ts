import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { runGate } from '../support/processes.ts';
import { PRELOAD, startTestService, storeDirectory, temporaryDirectory } from '../support/service.ts';

type Sync = { file: string; changed: string; names: string[] };

/** The files that a process has synced to the disk. A power cut may remove everything else, which power-check tests as root. */
class Syncs {
  readonly #list = join(temporaryDirectory(), 'syncs');
  readonly env = {
    NODE_OPTIONS: `${PRELOAD} --import=${new URL('../support/record-syncs.ts', import.meta.url).href}`,
    GATE_TEST_SYNCS: this.#list,
  };

  #of(path: string): Sync[] {
    const file = String(statSync(path).ino);
    const lines = readFileSync(this.#list, 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Sync).filter((sync) => sync.file === file);
  }

  /** Whether the current bytes of a file, or the current names in a directory, are on the disk. */
  hasContent(path: string): boolean {
    return this.#of(path).at(-1)?.changed === String(statSync(path, { bigint: true }).mtimeNs);
  }

  hasName(path: string): boolean {
    return this.#of(dirname(path)).some(({ names }) => names.includes(basename(path)));
  }
}

const everythingIn = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((path) => join(directory, path));

describe('files that a power cut must not take', () => {
  const key = randomBytes(32).toString('base64');
  const allGiven = { GATE_DEMO: '0', GATE_SIGNING_KEY: key, GATE_LOG_KEY: key };

  it('are the names of the tables, before a first start ends', async () => {
    const syncs = new Syncs();
    const dataDir = temporaryDirectory();

    const service = await startTestService({ dataDir, env: { ...syncs.env, ...allGiven } });

    const store = join(dataDir, 'clickhouse');
    const tables = everythingIn(join(store, 'store')).filter((path) => /\/store\/\w+(\/[\w-]+)?$/.test(path));
    const list = join(store, 'tables.json');
    const names = [dataDir, store, join(store, 'store'), join(store, 'metadata'), ...tables, list];
    expect(tables).to.have.length.above(20);
    expect(names.filter((path) => !syncs.hasName(path))).to.deep.equal([]);
    const files = everythingIn(join(store, 'metadata')).filter((path) => path.endsWith('.sql'));
    expect([...files, list].filter((path) => !syncs.hasContent(path))).to.deep.equal([]);
    await service.stop();
  });

  for (const [name, made] of [
    ['signing-key.pem', { GATE_SIGNING_KEY: '' }],
    ['log-key.pem', { GATE_LOG_KEY: '' }],
    ['demo.json', { GATE_DEMO: 'project' }],
  ] as const)
    it(`is ${name}, before a first start ends`, async () => {
      const syncs = new Syncs();
      const dataDir = temporaryDirectory();

      const service = await startTestService({ dataDir, env: { ...syncs.env, ...allGiven, ...made } });

      const path = join(dataDir, name);
      expect([syncs.hasName(path), syncs.hasContent(path)]).to.deep.equal([true, true]);
      await service.stop();
    });

  for (const command of ['backup', 'export', 'restore'] as const)
    it(`are those that gate ${command} writes, before it ends`, async () => {
      const syncs = new Syncs();
      const [store, parent] = [await storeDirectory(), temporaryDirectory()];
      const [backup, target] = [join(parent, 'backup'), join(parent, 'new', 'target')];
      if (command === 'restore') await runGate({ dataDir: store, args: ['backup', '--to', backup] });
      const [dataDir, args] =
        command === 'restore' ? [target, ['--from', backup]] : [store, ['--to', target]];

      const { code } = await runGate({ dataDir, args: [command, ...args], env: syncs.env });

      expect(code).to.equal(0);
      expect([target, dirname(target)].map((path) => syncs.hasName(path))).to.deep.equal([true, true]);
      const all = [target, ...everythingIn(target)];
      expect(all).to.have.length.above(10);
      expect(all.filter((path) => !syncs.hasContent(path))).to.deep.equal([]);
    });
});
