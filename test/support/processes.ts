import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentOf, ROOT, scriptOf, spawnService } from './service.ts';

/** The output of a process, on each stream and on both, and its exit code. */
export type Ended = { code: number | null; stdout: string; stderr: string; output: string };

/** For a start that fails with any store: a silent service with an unavailable store, which needs no engine. */
export const NO_STORE = {
  GATE_CLICKHOUSE_URL: 'http://127.0.0.1:9',
  GATE_DEMO: '0',
  GATE_LOG_LEVEL: 'silent',
};

/** Runs the service until it ends by itself, for a start that fails. */
export function runService(options: { dataDir: string; env: Record<string, string> }): Promise<Ended> {
  return endOf(spawnService(options));
}

/** Runs the service like `runService`, without the right of root to use every file. */
export function runServiceWithoutRoot({
  dataDir,
  env,
}: {
  dataDir: string;
  env: Record<string, string>;
}): Promise<Ended> {
  const options = { env: environmentOf(dataDir, env) };
  const script = scriptOf('main', env);
  if (process.getuid?.() !== 0) return runCommand(process.execPath, [script], options);
  const bounds = '--bounding-set=-dac_override,-dac_read_search';
  return runCommand('setpriv', [bounds, process.execPath, script], options);
}

type GateOptions = {
  dataDir: string;
  args: string[];
  env?: Record<string, string>;
  /** Called when the command prints its first line on standard error. */
  onProgress?: () => void;
};

/** Runs the command line (`npm run gate -- …`) on a data directory. */
export function runGate({ dataDir, args, env = {}, onProgress }: GateOptions): Promise<Ended> {
  const script = [scriptOf('cli/main', env), ...args];
  const child = spawn(process.execPath, script, {
    cwd: ROOT,
    env: environmentOf(dataDir, env),
    stdio: PIPES,
  });
  if (onProgress !== undefined) child.stderr.once('data', onProgress);
  return endOf(child);
}

type CommandOptions = { cwd?: string; env?: NodeJS.ProcessEnv };

/** Runs a command in the environment of the tests. */
export function runCommand(
  command: string,
  args: string[],
  { cwd = ROOT, env }: CommandOptions = {},
): Promise<Ended> {
  return endOf(spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: PIPES }));
}

const PIPES: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];

async function endOf(child: ChildProcess): Promise<Ended> {
  const printed = { stdout: '', stderr: '', output: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      printed[name] += chunk;
      printed.output += chunk;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...printed };
}
