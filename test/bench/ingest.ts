import type { ChildProcess } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './median.ts';
import {
  cpuMicroseconds,
  endProcess,
  fileSystemOf,
  ifRunning,
  load,
  rssMb,
  startPostgres,
  type Postgres,
  startServer,
  temporaryDirectory,
  type LoadResult,
} from './process.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export type Rival = {
  name: string;
  child: ChildProcess;
  url: URL;
  key: string;
  accepted: number;
  count: () => Promise<number>;
  flushes?: () => Promise<number>;
  /** The processes of its store, where they are not this one. */
  storePids?: () => number[];
};
export type Run = LoadResult & { rowsPerFlush: number | undefined; cpu: number; rss: number | undefined };

type BenchOptions = { seconds: number; rounds: number; connectionCounts: number[]; only?: string };

/** Events per second of the service compared with its bound and its rivals, in one run, round after round. */
export async function benchIngest({ seconds, rounds, connectionCounts, only }: BenchOptions): Promise<void> {
  const directory = temporaryDirectory();
  const postgres = only === undefined || only.includes('d') ? await startPostgres() : undefined;
  if (postgres === undefined && (only === undefined || only.includes('d')))
    console.log('(d) is left out: PostgreSQL is not installed (apt-get install postgresql).');
  console.log(`The stores lie in ${directory}, on ${fileSystemOf(directory)}.`);
  const rivals = await startRivals(directory, { postgres, only });
  try {
    for (const rival of rivals) await measure(rival, { connections: 64, seconds: 2 });
    for (const connections of connectionCounts) {
      const runs = new Map<Rival, Run[]>(rivals.map((rival) => [rival, []]));
      for (let round = 0; round < rounds; round += 1) {
        for (const rival of rivals) runs.get(rival)?.push(await measure(rival, { connections, seconds }));
      }
      printTable(`${connections} connections`, runs);
    }
    await checkCounts(rivals);
  } finally {
    await endRivals(rivals);
    postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Everything that was accepted is in the store of each, and nothing else. */
export async function checkCounts(rivals: Rival[]): Promise<void> {
  for (const rival of rivals) {
    const { name, accepted, count } = rival;
    signal(rival, 'SIGCONT');
    const stored = await count();
    console.log(
      `${name}: ${accepted} accepted, ${stored} in the store${stored === accepted ? '' : '  <-- NOT EQUAL'}`,
    );
    if (stored !== accepted) process.exitCode = 1;
  }
}

export async function endRivals(rivals: Rival[]): Promise<void> {
  for (const rival of rivals) {
    signal(rival, 'SIGCONT');
    await endProcess(rival.child);
  }
}

/** `only` names the letters of those that are wanted. */
async function startRivals(
  directory: string,
  { postgres, only = 'abcd' }: { postgres: Postgres | undefined; only: string | undefined },
): Promise<Rival[]> {
  const rivals: Rival[] = [];
  if (only.includes('a')) rivals.push(await startGatehouse(join(directory, 'a')));
  if (only.includes('b')) rivals.push(await startRival('(b) bound', 'bound.ts', join(directory, 'b')));
  if (only.includes('c'))
    rivals.push(await startRival('(c) insert per request', 'naive.ts', join(directory, 'c')));
  if (postgres !== undefined) rivals.push(await startPostgresRival(postgres));
  return rivals;
}

export async function startPostgresRival({ url, pids }: Postgres, stored = 0): Promise<Rival> {
  const rival = await startRival('(d) Express + PostgreSQL', 'postgres.ts', url, String(stored));
  return { ...rival, storePids: pids };
}

export async function startGatehouse(dataDir: string, more: Record<string, string> = {}): Promise<Rival> {
  const env = { GATE_DATA_DIR: dataDir, GATE_PORT: '0', GATE_DEMO: 'project', ...more };
  const { child, url } = await startServer(join(ROOT, 'server/main.ts'), [], env);
  let demo: { key: string; project_id: string } | undefined;
  for (let tries = 0; demo === undefined && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    try {
      demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as {
        key: string;
        project_id: string;
      };
    } catch {
      // Not written yet.
    }
  }
  if (demo === undefined) throw new Error('The service made no demo key');
  const { key, project_id } = demo;
  return {
    name: '(a) Gatehouse',
    child,
    url,
    key,
    accepted: 0,
    count: async () => {
      const query = 'agent=bench-agent&limit=1';
      const answer = await fetch(new URL(`/v1/projects/${project_id}/audit/decisions?${query}`, url));
      return ((await answer.json()) as { total: number }).total;
    },
    flushes: async () => {
      const text = await (await fetch(new URL('/metrics', url))).text();
      return Number(/^gate_ingest_flush_seconds_count (\d+)/m.exec(text)?.[1] ?? 0);
    },
  };
}

export async function startRival(name: string, script: string, ...args: string[]): Promise<Rival> {
  const { child, url } = await startServer(join(ROOT, 'test/bench/rivals', script), args);
  const ask = async () =>
    (await (await fetch(new URL('/count', url))).json()) as { count: number; flushes?: number };
  const count = async () => (await ask()).count;
  const rival: Rival = { name, child, url, key: 'none', accepted: 0, count };
  if (script === 'bound.ts') rival.flushes = async () => (await ask()).flushes ?? 0;
  return rival;
}

function pidsOf({ child, storePids }: Rival): number[] {
  return [child.pid as number, ...(storePids?.() ?? [])];
}

export function signal(rival: Rival, name: 'SIGCONT' | 'SIGSTOP'): void {
  for (const pid of pidsOf(rival)) ifRunning(() => process.kill(pid, name));
}

function cpuOf(rival: Rival): number {
  return pidsOf(rival).reduce((sum, pid) => sum + cpuMicroseconds(pid), 0);
}

/** The others are stopped in the meantime, so that their merges and writes from the last turn do not burden another. */
export async function measure(
  rival: Rival,
  options: { connections: number; seconds: number; batch?: number },
): Promise<Run> {
  signal(rival, 'SIGCONT');
  const before = (await rival.flushes?.()) ?? 0;
  const cpuBefore = cpuOf(rival);
  const result = await load(rival.url, { key: rival.key, ...options });
  const flushes = ((await rival.flushes?.()) ?? 0) - before;
  rival.accepted += result.accepted;
  signal(rival, 'SIGSTOP');
  const cpu = (cpuOf(rival) - cpuBefore) / result.accepted;
  printOthers(rival, result);
  return {
    ...result,
    rowsPerFlush: flushes > 0 ? result.accepted / flushes : undefined,
    cpu,
    // Processes that share memory would be counted with all of it, each.
    rss: rival.storePids === undefined ? rssMb(rival.child) : undefined,
  };
}

/** Events of other answers may be in the store, too: the counts of accepted and stored ones then differ. */
export function printOthers({ name }: Rival, { statuses }: LoadResult): void {
  const others = Object.entries(statuses).filter(([status]) => status !== '202');
  if (others.length > 0) console.log(`${name}: other answers ${JSON.stringify(others)}`);
}

export function printTable(title: string, runs: Map<Rival, Run[]>): void {
  const rows = [...runs].map(([{ name }, all]) => ({
    name,
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p50: median(all.map(({ p50 }) => p50)),
    p99: median(all.map(({ p99 }) => p99)),
    rowsPerFlush: median(all.map(({ rowsPerFlush }) => rowsPerFlush ?? 1)),
    cpu: median(all.map(({ cpu }) => cpu)).toFixed(0),
    rss: all[0]?.rss === undefined ? '-' : median(all.map(({ rss = 0 }) => rss)),
  }));
  const own = rows[0]?.perSecond ?? 0;
  console.log(`\n${title}\n`);
  console.log('| | events/s | (a) ÷ this | p50 ms | p99 ms | rows per flush | CPU µs/event | RSS MB |');
  console.log('|---|--:|--:|--:|--:|--:|--:|--:|');
  for (const { name, perSecond, p50, p99, rowsPerFlush, cpu, rss } of rows) {
    const ratio = (own / perSecond).toFixed(2);
    console.log(
      `| ${name} | ${Math.round(perSecond)} | ${ratio} | ${p50.toFixed(1)} | ${p99.toFixed(1)} | ${rowsPerFlush.toFixed(0)} | ${cpu} | ${rss} |`,
    );
  }
}
