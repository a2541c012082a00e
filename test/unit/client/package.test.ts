import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../support/processes.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');

const FIXTURES = join(import.meta.dirname, 'fixtures');

describe('the published package', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-package-'));
    const packed = await runCommand('npm', ['pack', '-w', 'client', '--pack-destination', folder], {
      cwd: ROOT,
    });
    expect(packed.code, packed.output).to.equal(0);
    const [tarball = ''] = await readdir(folder);
    await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }');
    const installed = await runCommand('npm', ['install', '--prefer-offline', join(folder, tarball)], {
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
      adapters: [['governMcpClient'], ['governTools'], ['governTools'], ['governMiddleware'], ['governHooks']],
      run: 'found cats',
      runSync: 'found dogs',
    }; // prettier-ignore
    expect(JSON.parse(output)).to.deep.equal(expected);
  });

  it('brings the command of the MCP gateway', async () => {
    const { code, output } = await runCommand('npx', ['--no', '@gatehouse/client', 'mcp', '--help'], {
      cwd: folder,
    });

    expect(code, output).to.equal(0);
    expect(output).to.match(/^Usage: gatehouse-client mcp --agent NAME/m);
  });

  it('brings types that check by themselves, strictly', async () => {
    await copyFile(join(FIXTURES, 'installed-types.mts'), join(folder, 'installed-types.mts'));
    const flags =
      '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck false --target es2022 --module nodenext';
    const args = [...flags.split(' '), '--types', '', 'installed-types.mts'];
    const { code, output } = await runCommand(TSC, args, { cwd: folder });

    expect(output).to.equal('');
    expect(code).to.equal(0);
  });

  it('has four dependencies and none of the server’s', async () => {
    const text = await readFile(join(folder, 'node_modules/@gatehouse/client/package.json'), 'utf8');
    const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };

    expect(Object.keys(dependencies)).to.deep.equal(['@noble/ed25519', '@noble/hashes', 'synckit', 'yaml']);
  });

  it('holds built files and its README, and no sources or tests', async () => {
    const files = await readdir(join(folder, 'node_modules/@gatehouse/client'), { recursive: true });
    const odd = files.filter((name) => !/^(dist(\/.*)?|README\.md|LICENSE|package\.json)$/.test(name));

    expect(odd).to.deep.equal([]);
    expect(files).to.include('README.md');
    expect(files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).to.deep.equal([]);
  });
});
