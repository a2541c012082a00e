import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readMetrics } from '../support/metrics.ts';
import { freePort } from '../support/listen.ts';
import { endProcess, fileSystemOf, rehearsedLoad, startServer, temporaryDirectory } from './process.ts';
import { fill } from './reads.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONNECTIONS = 256;
const ACCEPTED = 'gate_ingest_decisions_total{result="accepted"}';
const COMPLETE = 'gate_identity_filter_complete{stream="decisions"}';
const READS = ['summary', 'timeseries', 'decisions', 'summary'];

type Demo = { project_id: string; key: string };
type BenchRestart = { rows: number; seconds: number; directory?: string };

/** Starts after a clean stop and after a kill: how long until it listens, until its filter of identities is complete and, from the first request on, until the first event is durable; and the pace of each second. */
export async function benchRestart({ rows, seconds, directory }: BenchRestart): Promise<void> {
  const dataDir = directory ?? temporaryDirectory();
  try {
    if (!existsSync(join(dataDir, 'demo.json'))) await fill(dataDir, rows);
    console.log(`\n${rows} decisions on ${fileSystemOf(dataDir)}, ${CONNECTIONS} connections`);
    const header = Array.from({ length: seconds }, (_, at) => ` second ${at + 1} |`).join('');
    console.log(
      `\n| start after | s to listening | s to filter | ms to first event |${header} ${READS.join(' ms | ')} ms |`,
    );
    console.log(`|---|--:|--:|--:|${'--:|'.repeat(seconds + READS.length)}`);
    await startOnce(dataDir, { after: 'a fill', next: 'SIGTERM', seconds });
    await startOnce(dataDir, { after: 'SIGTERM', next: 'SIGKILL', seconds });
    await startOnce(dataDir, { after: 'SIGKILL', next: 'SIGTERM', seconds });
  } finally {
    if (directory === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}

type Start = { after: string; next: NodeJS.Signals; seconds: number };

async function startOnce(dataDir: string, { after, next, seconds }: Start): Promise<void> {
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
  const port = String(await freePort());
  const env = { GATE_DATA_DIR: dataDir, GATE_PORT: port, GATE_LOG_LEVEL: 'info' };
  // The generator is warm before the service starts: the seconds are those of the service.
  const generator = await rehearsedLoad(new URL(`http://127.0.0.1:${port}`), {
    key: demo.key,
    connections: CONNECTIONS,
    seconds: seconds + 1,
  });
  const startMs = performance.now();
  const { child, url } = await startServer(join(ROOT, 'server/main.ts'), [], env);
  const listening = (performance.now() - startMs) / 1000;
  const reads = await timesOf(url, demo.project_id);
  const running = generator.begin();
  const loadMs = performance.now();
  let complete = '-';
  const accepted = async () => {
    const metrics = await readMetrics({ url: url.origin });
    if (complete === '-' && metrics.value(COMPLETE) === 1) {
      complete = ((performance.now() - startMs) / 1000 - listening).toFixed(1);
    }
    return metrics.value(ACCEPTED);
  };
  while ((await accepted()) === 0) await sleep(10);
  const first = (performance.now() - loadMs).toFixed(0);
  const perSecond: number[] = [];
  for (let before = 0, beforeMs = performance.now(); perSecond.length < seconds;) {
    await sleep(1000);
    const now = await accepted();
    const nowMs = performance.now();
    perSecond.push(Math.round(((now - before) / (nowMs - beforeMs)) * 1000));
    [before, beforeMs] = [now, nowMs];
  }
  await running;
  const cells = [listening.toFixed(1), complete, first, ...perSecond, ...reads.map((ms) => ms.toFixed(0))];
  console.log(`| ${after} | ${cells.join(' | ')} |`);
  if (next === 'SIGTERM') return endProcess(child);
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(next);
  await gone;
}

/** The first reads of the process, one after the other. */
async function timesOf(url: URL, projectId: string): Promise<number[]> {
  const times: number[] = [];
  for (const name of READS) {
    const startMs = performance.now();
    const response = await fetch(new URL(`/v1/projects/${projectId}/audit/${name}?window=90d`, url));
    await response.arrayBuffer();
    times.push(performance.now() - startMs);
  }
  return times;
}
