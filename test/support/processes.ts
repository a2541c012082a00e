import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { storeEnvironment } from './clickhouse-server/environment.ts';
import { spawnService } from './service.ts';

const ROOT = new URL('../../', import.meta.url).pathname;

/** What a process printed, and how it ended. */
export type Ended = { code: number | null; stdout: string; stderr: string };

/** Runs the service until it ends by itself: for a start that fails. */
export function runService(options: { dataDir: string; env: Record<string, string> }): Promise<Ended> {
  return endOf(spawnService(options));
}

/** Runs the command line (`npm run gate -- …`) as a person does. */
export function runCommand({
  dataDir,
  args,
  env = {},
}: {
  dataDir: string;
  args: string[];
  env?: Record<string, string>;
}): Promise<Ended> {
  const child = spawn(process.execPath, ['server/cli/main.ts', ...args], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], GATE_DATA_DIR: dataDir, ...storeEnvironment(dataDir), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return endOf(child);
}

/** Runs a command as someone who pastes it, and resolves with what it prints. */
export async function runInShell(command: string): Promise<string> {
  return (await endOf(spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] }))).stdout;
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => (printed[name] += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}
