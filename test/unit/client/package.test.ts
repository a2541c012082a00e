import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { publint } from 'publint';
import { runCommand } from '../../support/processes.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');

const FIXTURES = join(import.meta.dirname, 'fixtures');

describe('the published package', () => {
  let folder: string;
  let tarball: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-package-'));
    const packed = await runCommand('npm', ['pack', '-w', 'client', '--pack-destination', folder], {
      cwd: ROOT,
    });
    expect(packed.code, packed.output).to.equal(0);
    const [name = ''] = await readdir(folder);
    tarball = join(folder, name);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    const installed = await runCommand('npm', ['install', '--prefer-offline', tarball], {
      cwd: folder,
    });
    expect(installed.code, installed.output).to.equal(0);
  });

  after(() => rm(folder, { recursive: true }));

  it('installs into an empty project and runs, with the exports it promises', async () => {
    await copyFile(join(FIXTURES, 'installed.js'), join(folder, 'installed.js'));
    const { code, output } = await runCommand(process.execPath, ['installed.js'], { cwd: folder });

    expect(code, output).to.equal(0);
    const expected = {
      exports: [
        'ApprovalRequiredError', 'PolicyDeniedError', 'PolicyError', 'ValueError', 'bindPolicy', 'configure', 'flush', 'govern',
        'redact', 'registerAgent', 'resolvePolicy', 'shutdown', 'truncateArguments',
      ],
      pure: [
        'PolicyError', 'createTypescriptEngine', 'createWasmEngine', 'parsePolicy', 'parsePublicKey', 'proof',
        'redact', 'truncateArguments', 'verifyBundle',
      ],
      adapters: [['governMcpClient'], ['governTools'], ['governTools'], ['governMiddleware'], ['governAgent'], ['governHooks']],
      run: 'found cats',
      runSync: 'found dogs',
    }; // prettier-ignore
    expect(JSON.parse(output)).to.deep.equal(expected);
  });

  it('includes the command of the MCP gateway', async () => {
    const { code, output } = await runCommand('npx', ['--no', '@gatehouse/client', 'mcp', '--help'], {
      cwd: folder,
    });

    expect(code, output).to.equal(0);
    expect(output).to.match(
      /^Usage: gatehouse-client mcp --agent NAME[^]*gatehouse-client init[^]*gatehouse-client register/m,
    );
  });

  it('includes types that pass a strict check on their own', async () => {
    await copyFile(join(FIXTURES, 'installed-types.mts'), join(folder, 'installed-types.mts'));
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --module nodenext';
    const args = [...flags.split(' '), '--types', '', 'installed-types.mts'];
    const { code, output } = await runCommand(TSC, args, { cwd: folder });

    expect(output).to.equal('');
    expect(code).to.equal(0);
  });

  it('includes examples that run where it is installed', async () => {
    const example = 'node_modules/@gatehouse/client/examples/local-policy.js';
    const { code, output } = await runCommand(process.execPath, [example], { cwd: folder });

    expect(output).to.match(/^3 results for late parcels\n/);
    expect(code).to.equal(0);
  });

  it('includes documents whose links lead to files in it', async () => {
    const root = join(folder, 'node_modules/@gatehouse/client');
    for (const name of ['README.md', 'docs/client.md', 'docs/policy.md']) {
      const text = await readFile(join(root, name), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\((?!https?:|#)([^)\s#]+)[^)]*\)/g))
        expect(existsSync(join(root, dirname(name), target)), `${name}: ${target}`).to.equal(true);
    }
  });

  // Stand-ins: npm compares versions before it looks at anything else.
  const projects: Record<string, string>[] = [
    { ai: '5.0.0' },
    { ai: '6.0.0' },
    { ai: '7.0.0', '@mastra/core': '1.71.0', '@langchain/core': '1.0.0' },
  ];
  for (const versions of projects) {
    it(`installs next to ${Object.entries(versions).join(' and ').replaceAll(',', ' ')}`, async () => {
      const beside = await mkdtemp(join(tmpdir(), 'gatehouse-beside-'));
      await writeFile(join(beside, 'package.json'), '{ "private": true }');
      const others = Object.entries(versions).map(async ([name, version], index) => {
        await mkdir(join(beside, `${index}`));
        await writeFile(join(beside, `${index}/package.json`), JSON.stringify({ name, version }));
        return `./${index}`;
      });
      const args = ['install', '--offline', '--dry-run', tarball, ...(await Promise.all(others))];
      const { code, output } = await runCommand('npm', args, { cwd: beside });
      await rm(beside, { recursive: true });

      expect(code, output).to.equal(0);
    });
  }

  it('passes publint', async () => {
    const { messages } = await publint({ pkgDir: join(ROOT, 'client'), strict: true });

    expect(messages).to.deep.equal([]);
  });

  it('works with require as well, if Node accepts ES modules', async () => {
    const program = `console.log(typeof require('@gatehouse/client').govern, require('@gatehouse/client/mcp').governMcpClient.name)`;
    const { output } = await runCommand(process.execPath, ['--input-type=commonjs', '-e', program], {
      cwd: folder,
    });

    expect(output).to.equal('function governMcpClient\n');
  });

  it('includes types for bundlers and for CommonJS', async () => {
    await writeFile(
      join(folder, 'types.cts'),
      `import type { Gate } from '@gatehouse/client';\nexport type A = Gate;`,
    );
    await writeFile(
      join(folder, 'types.ts'),
      `export * from '@gatehouse/client/mcp';\nexport * from '@gatehouse/client';`,
    );
    const compiled = async (file: string, flags: string) =>
      (
        await runCommand(
          TSC,
          [
            ...`--noEmit --strict --skipLibCheck false --target es2022 --types`.split(' '),
            '',
            ...flags.split(' '),
            file,
          ],
          { cwd: folder },
        )
      ).output;

    expect(await compiled('types.cts', '--module nodenext')).to.equal('');
    expect(await compiled('types.ts', '--module esnext --moduleResolution bundler')).to.equal('');
  });

  it('has four dependencies and none of the server’s', async () => {
    const text = await readFile(join(folder, 'node_modules/@gatehouse/client/package.json'), 'utf8');
    const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };

    expect(Object.keys(dependencies)).to.deep.equal(['@noble/ed25519', '@noble/hashes', 'yaml']);
  });

  it('holds built files, examples and documents, and no sources or tests', async () => {
    const files = await readdir(join(folder, 'node_modules/@gatehouse/client'), { recursive: true });
    const odd = files.filter(
      (name) => !/^((dist|docs|examples)(\/.*)?|README\.md|LICENSE|package\.json)$/.test(name),
    );

    expect(odd).to.deep.equal([]);
    expect(files).to.include.members(['README.md', 'docs/policy.md', 'examples/from-zero.js']);
    expect(files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).to.deep.equal([]);
  });
});
