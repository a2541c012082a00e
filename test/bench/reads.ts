import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median } from './median.ts';
import { endProcess, fileSystemOf, rssMb, startServer, temporaryDirectory } from './process.ts';
import { printIngest } from './reads-beside-ingest.ts';
import { printProofs } from './reads-proof.ts';
import { QUESTIONS } from './read-questions.ts';
import { type Target, timesOf } from './reads-target.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const WINDOWS = ['24h', '7d', '30d', '90d'];
const EXPORT_ROWS_MAX = 1_000_000;
const CURSOR_PAGES = 1000;
const run = promisify(execFile);

type Engine = {
  measured: Record<string, number[]>;
  disk: { rows: string; disk: string; raw: string };
  projections: { name: string; rows: string; disk: string }[];
};
type Demo = { project_id: string; key: string };
type BenchReads = { rows: number; days: number; seconds: number; directory?: string; only?: string };

const BESIDE_ENGINE: Record<string, (target: Target, engine: Engine) => Promise<void>> = {
  windows: printWindows,
  questions: printQuestions,
  pages: printPages,
};

/** Every read at a size, compared with the plain GROUP BY and with FINAL; a given directory is filled once and kept. */
export async function benchReads({ rows, days, seconds, directory, only }: BenchReads): Promise<void> {
  const dataDir = directory ?? temporaryDirectory();
  try {
    if (!existsSync(join(dataDir, 'demo.json'))) await fill(dataDir, rows, days);
    const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    console.log(`\nThe store lies in ${dataDir}, on ${fileSystemOf(dataDir)}.`);
    const isWanted = (name: string) => only === undefined || only === name;
    // Before the service starts: the engine must have the store for itself.
    const engine = Object.keys(BESIDE_ENGINE).some(isWanted)
      ? await askEngine(dataDir, demo.project_id)
      : undefined;
    if (isWanted('plans')) console.log(`\n${await askBeside('read-plans', dataDir, demo.project_id)}`);
    const env = { GATE_DATA_DIR: dataDir, GATE_PORT: '0', GATE_LOG_LEVEL: 'info' };
    const parts: Record<string, (target: Target, child: ChildProcess) => Promise<void>> = {
      ...Object.fromEntries(
        Object.entries(BESIDE_ENGINE).map(([name, print]) => [
          name,
          (target: Target) => print(target, engine as Engine),
        ]),
      ),
      export: (target, child) => printExport(target, () => rssMb(child)),
      proof: printProofs,
      ingest: (target) => printIngest(target, seconds),
    };
    for (const [name, part] of Object.entries(parts)) {
      if (!isWanted(name)) continue;
      // A fresh service for each, so that one part does not use what another left in memory.
      const { child, url } = await startServer(join(ROOT, 'server/main.ts'), [], env);
      try {
        await part({ url, projectId: demo.project_id, key: demo.key }, child);
      } finally {
        await endProcess(child);
      }
    }
  } finally {
    if (directory === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The same questions to the engine alone. */
async function askEngine(dataDir: string, projectId: string): Promise<Engine> {
  const engine = JSON.parse(await askBeside('read-engine', dataDir, projectId)) as Engine;
  printDisk(engine);
  return engine;
}

/** The output of a rival that needs the store for itself, so no service runs at the same time. */
async function askBeside(rival: string, dataDir: string, projectId: string): Promise<string> {
  const args = [`test/bench/rivals/${rival}.ts`, join(dataDir, 'clickhouse'), projectId];
  return (await run(process.execPath, args, { cwd: ROOT, maxBuffer: 16_000_000 })).stdout;
}

export async function fill(dataDir: string, rows: number, days = 90): Promise<void> {
  const env = { PATH: process.env['PATH'], GATE_DATA_DIR: dataDir };
  const args = ['server/demo/fleet.ts', '--rows', String(rows), '--days', String(days)];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, env });
  console.log(`\n${stdout.trim().split('\n').at(-1)}`);
}

function printDisk({ disk, projections }: Engine): void {
  const rows = Number(disk.rows);
  const perEvent = (bytes: string) => (Number(bytes) / rows).toFixed(1);
  console.log(
    `\n${rows} rows: ${perEvent(disk.raw)} bytes an event raw, ${perEvent(disk.disk)} on disk with all projections`,
  );
  for (const { name, rows: held, disk: bytes } of projections)
    console.log(`  ${name}: ${held} rows, ${perEvent(bytes)} bytes an event`);
}

function at(times: number[] | undefined, share: number): string {
  const time = times?.[Math.min(times.length - 1, Math.floor(times.length * share))];
  return time === undefined ? '-' : time.toFixed(0);
}

async function printWindows(target: Target, { measured }: Engine): Promise<void> {
  console.log('\n| read | p50 ms | p99 ms | (b) plain GROUP BY p50 | (c) FINAL p50 |\n|---|--:|--:|--:|--:|');
  for (const window of WINDOWS) {
    for (const name of ['summary', 'timeseries', 'llm-usage', 'llm-invocations', 'decisions']) {
      const times = await timesOf(target, `${name}?window=${window}`);
      const rivals = ['b', 'c'].map((rival) => at(measured[`${name} ${window} (${rival})`], 0.5));
      console.log(`| ${name} ${window} | ${at(times, 0.5)} | ${at(times, 0.99)} | ${rivals.join(' | ')} |`);
    }
  }
}

/** Ranges, filters, breakdowns and searches, compared with the plain query. */
async function printQuestions(target: Target, { measured }: Engine): Promise<void> {
  console.log('\n| read | first ms | p50 ms | p99 ms | plain query p50 |\n|---|--:|--:|--:|--:|');
  for (const { path } of QUESTIONS) {
    const first = at(await timesOf(target, path, 1), 0);
    const times = await timesOf(target, path);
    const plain = at(measured[path], 0.5);
    console.log(`| ${path} | ${first} | ${at(times, 0.5)} | ${at(times, 0.99)} | ${plain} |`);
  }
}

async function printPages(target: Target, { measured }: Engine): Promise<void> {
  const selectOne = measured['SELECT 1'] ?? [];
  const boundMs = 3 * (selectOne[Math.floor(selectOne.length * 0.99)] ?? 0) + 100;
  console.log(
    `\nFirst pages over 90d; the bound is 3 × SELECT 1 + 100 ms = ${boundMs.toFixed(0)} ms at p99\n`,
  );
  console.log('| filter | total | p50 ms | p99 ms |\n|---|--:|--:|--:|');
  const sample = await page(target, 'limit=1');
  const { session_id } = sample.items[0] as { session_id: string };
  const filters = [
    '',
    'agent=data-analyst',
    'role=',
    'outcome=deny',
    'tool=delete_file',
    'user_id=user-000001',
  ];
  const rare = [
    'user_id=user-019000',
    'user_id=nobody',
    `session_id=${session_id}`,
    'agent=data-analyst&outcome=deny&role=viewer',
  ];
  for (const filter of [...filters, ...rare]) {
    const { total } = await page(target, filter);
    const times = await timesOf(target, `decisions?window=90d&${filter}`);
    console.log(`| ${filter || 'none'} | ${total} | ${at(times, 0.5)} | ${at(times, 0.99)} |`);
  }
  await printCursor(target);
}

type Page = { total: number; next_cursor: string | null; items: unknown[] };

async function page({ url, projectId }: Target, query: string): Promise<Page> {
  const response = await fetch(new URL(`/v1/projects/${projectId}/audit/decisions?window=90d&${query}`, url));
  return (await response.json()) as Page;
}

async function printCursor(target: Target): Promise<void> {
  const times: number[] = [];
  let cursor: string | null = '';
  while (times.length < CURSOR_PAGES && cursor !== null) {
    const startMs = performance.now();
    const next: Page = await page(target, cursor === '' ? 'limit=50' : `limit=50&cursor=${cursor}`);
    cursor = next.next_cursor;
    times.push(performance.now() - startMs);
  }
  console.log(
    `\nCursor: pages 1 to 20 take ${median(times.slice(0, 20)).toFixed(1)} ms, pages ${times.length - 19} to ${times.length} ${median(times.slice(-20)).toFixed(1)} ms (p50)`,
  );
}

async function printExport({ url, projectId }: Target, rss: () => number): Promise<void> {
  const path = new URL(`/v1/projects/${projectId}/audit/decisions/export?window=90d`, url);
  const startMb = rss();
  const startMs = performance.now();
  const gone = new AbortController();
  const response = await fetch(path, { signal: gone.signal });
  let [rows, bytes, peakMb] = [0, 0, startMb];
  for await (const chunk of response.body ?? []) {
    const buffer = Buffer.from(chunk);
    bytes += buffer.length;
    for (let from = buffer.indexOf(10); from !== -1; from = buffer.indexOf(10, from + 1)) rows += 1;
    peakMb = Math.max(peakMb, rss());
    if (rows >= EXPORT_ROWS_MAX) break;
  }
  gone.abort();
  const seconds = (performance.now() - startMs) / 1000;
  console.log(
    `\nExport: ${rows} records, ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s; RSS ${startMb} MB before, ${peakMb} MB at its peak`,
  );
}
