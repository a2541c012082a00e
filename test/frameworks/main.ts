// Runs the contract of the adapters against a real framework that is too large to be a dependency of the tests, and installs it into a
// temporary directory for that: main.ts mastra|claude. Needs access to the npm registry and a minute.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/service.ts';

const FRAMEWORKS: Record<string, { packages: string[]; test: string }> = {
  mastra: { packages: ['@mastra/core@1.71.0', 'ai@7', 'zod@4'], test: 'mastra.ts' },
  claude: { packages: ['@anthropic-ai/claude-agent-sdk@0.3.330', 'zod@4'], test: 'claude-agent-sdk.ts' },
};

const { packages, test } = FRAMEWORKS[process.argv[2] ?? ''] ?? {};
if (packages === undefined || test === undefined)
  throw new Error(`Usage: main.ts ${Object.keys(FRAMEWORKS).join('|')}`);

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-framework-'));
const run = (command: string, args: string[], cwd: string): number => {
  const env = { ...process.env, FRAMEWORK_DIRECTORY: folder };
  return spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status ?? 1;
};
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  // The client as it is built.
  process.exitCode =
    run('npm', ['install', '--loglevel=error', ...packages, join(ROOT, 'client')], folder) ||
    run('npx', ['mocha', `test/frameworks/${test}`], ROOT);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
