import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { storeEnvironment } from './clickhouse-server/environment.ts';
import { copyMade, copyTemplate } from './store-template.ts';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const START_MS_MAX = 50_000;

export type Demo = {
  project_id: string;
  agent_name: string;
  key: string;
  dashboard?: { email: string; password: string };
  fleet_project_id?: string;
};

/** A service with a project to work in, and a key of that project. */
export type RunningService = {
  url: string;
  dataDir: string;
  pid: number;
  project_id: string;
  key: string;
  /** Everything it has printed so far. */
  output: () => string;
};

/** A service in a separate process, with its own port and data directory. Its project is the demo's. */
export type TestService = RunningService & {
  demo: Demo;
  /** Sends SIGTERM and resolves with the exit code. */
  stop: () => Promise<number | null>;
  /** Sends SIGKILL and resolves when the process is gone. */
  kill: () => Promise<void>;
};

type StartOptions = { dataDir?: string; env?: Record<string, string>; root?: string };

const directories: string[] = [];
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const path of directories) rmSync(path, { recursive: true, force: true });
});

/**
 * A fresh directory that is removed when the tests end. In memory if the system supports that: hundreds of stores are created and deleted
 * in a test run, and a disk that has just deleted them is slow to create files for minutes.
 */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'gatehouse-test-'));
  directories.push(path);
  return path;
}

/** Starts the service with its demo project, without the demo fleet, on the embedded engine and resolves when it listens. */
export async function startTestService({
  env = {},
  root,
  ...given
}: StartOptions = {}): Promise<TestService> {
  const isFirst = FIRST_START.some((name) => name in env);
  const dataDir = given.dataDir ?? (isFirst ? temporaryDirectory() : await storeDirectory());
  const child = spawnService({ dataDir, env, root });
  let output = '';
  child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const hasDemo = env['GATE_DEMO'] !== '0';
  const listening = () =>
    !hasDemo || output.includes('See it counted')
      ? /"url":"([^"]+)"[^\n]*"msg":"Gatehouse is listening"/.exec(output)?.[1]
      : undefined;
  let url = listening();
  for (const endMs = Date.now() + START_MS_MAX; url === undefined; url = listening()) {
    if (child.exitCode !== null || child.signalCode !== null || Date.now() > endMs)
      throw new Error(`The service did not start:\n${output}`);
    await sleep(20);
  }
  const demo = hasDemo ? (JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo) : NO_DEMO;
  const end = async (signal: NodeJS.Signals) => {
    child.ref();
    child.kill(signal);
    return exited;
  };
  return {
    url,
    dataDir,
    pid: child.pid ?? 0,
    project_id: demo.project_id,
    key: demo.key,
    demo,
    output: () => output,
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

/** The same for all cases of a suite; its fields are set from the first `before` on. */
export function useTestService(options?: StartOptions): TestService {
  const service = {} as TestService;
  before('a service', async () => void Object.assign(service, await startTestService(options)));
  after(() => service.stop());
  return service;
}

const hasServer = (dataDir: string) => 'GATE_CLICKHOUSE_URL' in storeEnvironment(dataDir);

/** A fresh data directory as after the first start of a service: with the schema, the demo project and its key. */
export async function storeDirectory(): Promise<string> {
  const dataDir = temporaryDirectory();
  if (!hasServer(dataDir)) await makeStore(dataDir);
  return dataDir;
}

function makeStore(dataDir: string): Promise<void> {
  return copyTemplate('service', dataDir, async (path) => {
    await (await startTestService({ dataDir: path })).stop();
  });
}

let ownDirectory: string | undefined;
/** Kept for one run of the tests: its content becomes outdated within hours. */
const runDirectory = () => process.env['GATE_TEST_DIRECTORY'] ?? (ownDirectory ??= temporaryDirectory());

/** Like `storeDirectory`, with what `fill` sends to a service on it. `fill` runs once for all suites. */
export async function filledDirectory(
  name: string,
  fill: (service: TestService) => Promise<void>,
): Promise<string> {
  const dataDir = temporaryDirectory();
  const make = async (path: string) => {
    await makeStore(path);
    const service = await startTestService({ dataDir: path });
    await fill(service);
    await service.stop();
  };
  await copyMade(dataDir, { path: join(runDirectory(), name), make });
  return dataDir;
}

const FIRST_START = ['GATE_DEMO', 'GATE_SIGNING_KEY', 'GATE_CLICKHOUSE_URL'];

const NO_DEMO: Demo = { project_id: '', agent_name: '', key: '' };

/** The module that each service under test loads first. */
export const PRELOAD = `--import=${new URL('preload.ts', import.meta.url).href}`;

/** For a service that does not log what it acknowledges. */
export const WITHOUT_LOG = {
  NODE_OPTIONS: `${PRELOAD} --import=${new URL('without-log.ts', import.meta.url).href}`,
};

/**
 * The service or its command line: the source, or what a run of all tests bundled from it (build-server.ts). With options of Node, always
 * the source, because what they load first replaces parts of it.
 */
export function scriptOf(name: 'main' | 'cli/main', env: Record<string, string> = {}): string {
  const built = process.env['GATE_TEST_SERVER'];
  return built === undefined || 'NODE_OPTIONS' in env ? `server/${name}.ts` : `${built}/${name}.js`;
}

/** The whole environment of a process under test. */
export function environmentOf(dataDir: string, env: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const store = storeEnvironment(dataDir);
  return { PATH, NODE_COMPILE_CACHE, NODE_OPTIONS: PRELOAD, GATE_DATA_DIR: dataDir, ...store, ...env };
}

/** The bare process, for tests of a start that fails. */
export function spawnService({
  dataDir,
  env,
  root = ROOT,
  output = 'pipe',
}: {
  dataDir: string;
  env: Record<string, string>;
  root?: string | undefined;
  /** Where standard output and standard error go. */
  output?: 'pipe' | number | undefined;
}): ChildProcess {
  const child = spawn(process.execPath, [scriptOf('main', env)], {
    cwd: root,
    env: environmentOf(dataDir, { GATE_DEMO: 'project', GATE_PORT: '0', ...env }),
    stdio: ['ignore', output, output],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  // A service that a failed test left behind must not keep the tests from ending.
  child.unref();
  for (const pipe of [child.stdout, child.stderr]) (pipe as Socket | null)?.unref();
  return child;
}
