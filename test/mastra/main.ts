// Runs the contract of the adapters, and the example, against the real Mastra, which is too large to be a dependency of the tests: installs it into a
// temporary directory. Needs access to the npm registry and a minute.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/service.ts';

/** The client as it is built. */
const PACKAGES = ['@mastra/core@1.71.0', 'ai@7', 'zod@4', join(ROOT, 'client')];

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mastra-'));
const run = (command: string, args: string[], cwd: string): number => {
  const env = { ...process.env, MASTRA_DIRECTORY: folder };
  return spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status ?? 1;
};
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  process.exitCode =
    run('npm', ['install', '--loglevel=error', ...PACKAGES], folder) ||
    run('npx', ['mocha', 'test/mastra/contract.ts'], ROOT);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
