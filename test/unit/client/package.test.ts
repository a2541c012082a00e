import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../support/processes.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const TSC = join(ROOT, 'node_modules/.bin/tsc');

const PROGRAM = `
import * as client from '@gatehouse/client';
import * as pure from '@gatehouse/client/pure';
import * as mcp from '@gatehouse/client/mcp';
import * as aiSdk from '@gatehouse/client/ai-sdk';
const policy = 'version: 1\\ntools: [search]\\nroles: {"*": {allow: [search]}}\\nrules: []\\n';
const agent = { name: 'bot', tools: { search: ({ q }) => 'found ' + q }, run: ({ tools }, q) => tools.search({ q }) };
const governed = await client.govern(agent, { policy });
console.log(JSON.stringify({
  exports: Object.keys(client).sort(),
  pure: Object.keys(pure).sort(),
  adapters: [Object.keys(mcp), Object.keys(aiSdk)],
  run: await governed.run('cats'),
  runSync: governed.runSync('dogs'),
}));
await client.shutdown();
`;

const TYPED = `
import { govern, PolicyDeniedError, resolvePolicy, type Gate, type PolicySource } from '@gatehouse/client';
import { redact } from '@gatehouse/client/pure';
import { governMcpClient } from '@gatehouse/client/mcp';
const agent = {
  name: 'bot',
  tools: { search: ({ q }: { q: string }) => q.length, add: async (sum: { a: number; b: number }) => sum.a + sum.b },
  run: async ({ tools }: { tools: Record<string, (args?: unknown) => unknown> }, input: string) =>
    Number(await tools['search']?.({ q: input })),
};
const governed = await govern(agent, { bindPolicy: true, role: 'editor', onApproval: async ({ tool }) => tool === 'add' });
export const result: number = await governed.run('x', { userId: 'u' });
export const source: PolicySource = await resolvePolicy({ agentName: 'bot' });
export const gate: Gate = governed.gate;
export const rest = [PolicyDeniedError, redact, governMcpClient];
`;

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
    await writeFile(join(folder, 'program.js'), PROGRAM);
    const { code, output } = await runCommand(process.execPath, ['program.js'], { cwd: folder });

    expect(code, output).to.equal(0);
    expect(JSON.parse(output)).to.deep.equal({
      exports: [
        'ApprovalRequiredError',
        'PolicyDeniedError',
        'PolicyError',
        'ValueError',
        'configure',
        'flush',
        'govern',
        'redact',
        'resolvePolicy',
        'shutdown',
        'truncateArguments',
      ],
      pure: [
        'PolicyError',
        'createTypescriptEngine',
        'createWasmEngine',
        'parsePolicy',
        'parsePublicKey',
        'redact',
        'truncateArguments',
        'verifyBundle',
      ],
      adapters: [['governMcpClient'], ['governTools']],
      run: 'found cats',
      runSync: 'found dogs',
    });
  });

  it('brings types that check by themselves, strictly', async () => {
    await writeFile(join(folder, 'typed.ts'), TYPED);
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false'];
    const args = [...flags, '--target', 'es2022', '--module', 'nodenext', '--types', '', 'typed.ts'];
    const { code, output } = await runCommand(TSC, args, { cwd: folder });

    expect(output).to.equal('');
    expect(code).to.equal(0);
  });

  it('has three dependencies and none of the server’s', async () => {
    const text = await readFile(join(folder, 'node_modules/@gatehouse/client/package.json'), 'utf8');
    const { dependencies } = JSON.parse(text) as { dependencies: Record<string, string> };

    expect(Object.keys(dependencies)).to.deep.equal(['@noble/ed25519', 'synckit', 'yaml']);
  });

  it('holds built files and its README, and no sources or tests', async () => {
    const files = await readdir(join(folder, 'node_modules/@gatehouse/client'), { recursive: true });
    const odd = files.filter((name) => !/^(dist(\/.*)?|README\.md|LICENSE|package\.json)$/.test(name));

    expect(odd).to.deep.equal([]);
    expect(files).to.include('README.md');
    expect(files.filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))).to.deep.equal([]);
  });
});
