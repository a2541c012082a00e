import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, globSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { LoadArguments } from './load.ts';
import { freePort } from '../support/listen.ts';
import { rssMb as rssMbOf } from '../support/rss.ts';

export type LoadResult = {
  accepted: number;
  statuses: Record<string, number>;
  perSecond: number;
  p50: number;
  p99: number;
};

/** However the bench ends, its child processes end as well. SIGKILL also reaches stopped ones. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const HERE = fileURLToPath(new URL('.', import.meta.url));

export function temporaryDirectory(): string {
  return mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
}

/**
 * Starts a script and resolves with its address once it prints one. It prints into a file, like a service: a pipe would need a reader, at
 * the expense of the measurement.
 */
export async function startServer(script: string, args: string[], env: Record<string, string> = {}) {
  const directory = temporaryDirectory();
  const path = join(directory, 'output');
  const output = openSync(path, 'w');
  const child = spawn(process.execPath, [script, ...args], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production', ...env },
    stdio: ['ignore', output, 'inherit'],
  });
  closeSync(output);
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    rmSync(directory, { recursive: true, force: true });
  });
  while (child.exitCode === null && child.signalCode === null) {
    const url = /"url":"([^"]+)"/.exec(readFileSync(path, 'utf8'))?.[1];
    if (url !== undefined) return { child, url: new URL(url) };
    await sleep(20);
  }
  throw new Error(`${script} ended with ${child.exitCode ?? child.signalCode}`);
}

export type LoadOptions = Omit<LoadArguments, 'host' | 'port' | 'rehearses'>;

/** Runs the load generator in its own process. */
export function load(url: URL, options: LoadOptions): Promise<LoadResult> {
  return startGenerator(url, options).result;
}

/** The same, in a process that is warm when this resolves. It begins when it is told to. */
export async function rehearsedLoad(
  url: URL,
  options: LoadOptions,
): Promise<{ begin: () => Promise<LoadResult> }> {
  const { child, result } = startGenerator(url, { ...options, rehearses: true });
  await once(child.stdout, 'data');
  return {
    begin: () => {
      child.stdin.end('begin');
      return result;
    },
  };
}

function startGenerator({ hostname: host, port }: URL, options: Omit<LoadArguments, 'host' | 'port'>) {
  const given: LoadArguments = { host, port, ...options };
  const args = [join(HERE, 'load.ts'), JSON.stringify(given)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const result = new Promise<LoadResult>((resolve, reject) => {
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('exit', (code) => {
      if (code === 0) resolve(JSON.parse(output) as LoadResult);
      else reject(new Error(output));
    });
  });
  return { child, result };
}

/** Like `load`; any answer except a good one is an error, because the figures would be those of another load. */
export async function loadOnlyGood(url: URL, options: LoadOptions): Promise<LoadResult> {
  const result = await load(url, options);
  const others = Object.keys(result.statuses).filter((status) => status !== (options.pull ? '304' : '202'));
  if (others.length > 0) throw new Error(`There were other answers: ${JSON.stringify(result.statuses)}`);
  return result;
}

/** What file system a directory is on: in memory, an fsync costs nothing. */
export function fileSystemOf(path: string): string {
  return execFileSync('stat', ['-f', '-c', '%T', path], { encoding: 'utf8' }).trim();
}

/** Resident memory of a process in MB. */
export function rssMb(child: ChildProcess): number {
  return Math.round(rssMbOf(child.pid));
}

/** Processor time of a process and of its children that have ended, user and system, in microseconds; 0 when it has ended. */
export function cpuMicroseconds(pid: number): number {
  const stat = ifRunning(() => readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? '';
  const ticks = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
  return TICK_MICROSECONDS * ticks.reduce((sum, ticksOfOne) => sum + ticksOfOne, 0);
}

/** The result of `work` on a process, or undefined when the process has ended: it may end at any moment. */
export function ifRunning<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

/** Linux counts processor time in hundredths of a second. */
const TICK_MICROSECONDS = 10_000;

export function endProcess(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), 10_000).unref();
  });
}

/** `pids`: of all its processes, the one that starts the others first. */
export type Postgres = { url: string; pids: () => number[]; stop: () => void };

/** A separate PostgreSQL cluster with the defaults (fsync and synchronous commit on); undefined if PostgreSQL is not installed. */
export async function startPostgres(): Promise<Postgres | undefined> {
  const bin = globSync('/usr/lib/postgresql/*/bin').findLast((path) => existsSync(join(path, 'initdb')));
  if (bin === undefined) return undefined;
  const directory = temporaryDirectory();
  const port = await freePort();
  // PostgreSQL refuses to run as root.
  const asPostgres = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : ['env'];
  if (process.getuid?.() === 0) execFileSync('chown', ['postgres', directory]);
  const run = (...command: string[]) =>
    execFileSync(asPostgres[0] ?? '', [...asPostgres.slice(1), ...command], { stdio: 'ignore' });
  const data = join(directory, 'data');
  run(join(bin, 'initdb'), '-D', data, '-A', 'trust');
  const options = `-p ${port} -k ${directory} -c listen_addresses=127.0.0.1`;
  run(join(bin, 'pg_ctl'), '-D', data, '-w', '-l', join(directory, 'log'), '-o', options, 'start');
  const user = process.getuid?.() === 0 ? 'postgres' : (process.env['USER'] ?? 'postgres');
  const stop = () => {
    process.off('exit', stop);
    for (const pid of pids()) process.kill(pid, 'SIGCONT');
    run(join(bin, 'pg_ctl'), '-D', data, '-m', 'fast', 'stop');
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', stop);
  const main = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const pids = () => {
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').trim();
    return [main, ...(children === '' ? [] : children.split(' ').map(Number))];
  };
  return { url: `postgres://${user}@127.0.0.1:${port}/postgres`, pids, stop };
}
