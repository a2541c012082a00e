// Runs the contract of the adapters against real frameworks, and the package in real tools, that are too large to be dependencies of the
// tests. Packs the client and installs it next to them into a temporary directory: main.ts mastra|claude|package. Needs access to the npm
// registry and a minute.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/service.ts';

const CHECKS: Record<string, { packages: string[]; test: string }> = {
  mastra: { packages: ['@mastra/core@1.71.0', 'ai@7', 'zod@4'], test: 'mastra.ts' },
  claude: { packages: ['@anthropic-ai/claude-agent-sdk@0.3.330', 'zod@4'], test: 'claude-agent-sdk.ts' },
  package: {
    packages: [
      'ai5@npm:ai@5',
      'ai6@npm:ai@6',
      'ai@7',
      'zod@4',
      'jest@30',
      'webpack@5',
      'webpack-cli@6',
      'bun@1',
      'next@16',
      'react@19',
      'react-dom@19',
      '@arethetypeswrong/cli@0.18.5',
    ],
    test: 'package.ts',
  },
};

const { packages, test } = CHECKS[process.argv[2] ?? ''] ?? {};
if (packages === undefined || test === undefined)
  throw new Error(`Usage: main.ts ${Object.keys(CHECKS).join('|')}`);

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-framework-'));
const run = (command: string, args: string[], cwd: string): number => {
  const env = { ...process.env, FRAMEWORK_DIRECTORY: folder };
  return spawnSync(command, args, { cwd, env, stdio: 'inherit' }).status ?? 1;
};
const tarball = (): string => `./${readdirSync(folder).find((name) => name.endsWith('.tgz'))}`;
try {
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  process.exitCode =
    run('npm', ['pack', '--silent', '-w', 'client', '--pack-destination', folder], ROOT) ||
    run('npm', ['install', '--loglevel=error', ...packages, tarball()], folder) ||
    run('npx', ['mocha', `test/frameworks/${test}`], ROOT);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
