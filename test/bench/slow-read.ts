import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { READS_RUNNING_MAX } from '../../server/limits.ts';
import { median } from './median.ts';
import { endProcess, fileSystemOf, loadOnlyGood, startServer, temporaryDirectory } from './process.ts';
import { fill } from './reads.ts';
import type { Target } from './reads-target.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONNECTIONS = 64;
const RATIO_MAX = 3;
const WARM_SECONDS = 5;

type SlowRead = { rows: number; seconds: number; rounds: number };

/**
 * Ingest alone, and alongside reads that take all the time available: as many exports as may read at once, one after the other. They
 * represent slow statements, because no single statement of the service can be made to last for 10 s.
 */
export async function benchSlowRead({ rows, seconds, rounds }: SlowRead): Promise<void> {
  const dataDir = temporaryDirectory();
  try {
    await fill(dataDir, rows);
    const { project_id, key } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as {
      project_id: string;
      key: string;
    };
    const env = { GATE_DATA_DIR: dataDir, GATE_PORT: '0' };
    const { child, url } = await startServer(join(ROOT, 'server/main.ts'), [], env);
    try {
      console.log(`\n${rows} records on ${fileSystemOf(dataDir)}\n`);
      await compare({ url, projectId: project_id, key }, { seconds, rounds });
    } finally {
      await endProcess(child);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function compare(target: Target, { seconds, rounds }: Omit<SlowRead, 'rows'>): Promise<void> {
  const options = { key: target.key, connections: CONNECTIONS, seconds };
  await loadOnlyGood(target.url, { ...options, seconds: WARM_SECONDS });
  const p99s: { quiet: number[]; busy: number[] } = { quiet: [], busy: [] };
  for (let round = 0; round < rounds; round += 1) {
    p99s.quiet.push((await loadOnlyGood(target.url, options)).p99);
    const reads = startExports(target);
    p99s.busy.push((await loadOnlyGood(target.url, options)).p99);
    await reads.stop();
  }
  const [quiet, busy] = [median(p99s.quiet), median(p99s.busy)];
  console.log(`| ingest on ${CONNECTIONS} connections | p99 ms |\n|---|--:|`);
  console.log(
    `| alone | ${quiet.toFixed(1)} |\n| beside ${READS_RUNNING_MAX} exports | ${busy.toFixed(1)} |`,
  );
  console.log(`${(busy / quiet).toFixed(2)} times the quiet value; at most ${RATIO_MAX} are allowed`);
  if (busy > RATIO_MAX * quiet) process.exitCode = 1;
}

function startExports({ url, projectId }: Target): { stop: () => Promise<void> } {
  const path = new URL(`/v1/projects/${projectId}/audit/decisions/export?window=90d`, url);
  const ending = new AbortController();
  const read = async () => {
    while (!ending.signal.aborted) {
      const response = await fetch(path, { signal: ending.signal });
      if (response.status !== 200) throw new Error(`The export answered ${response.status}`);
      for await (const _ of response.body ?? []) continue;
    }
  };
  const running = Array.from({ length: READS_RUNNING_MAX }, () =>
    read().catch((error: unknown) => {
      if (!ending.signal.aborted) throw error;
    }),
  );
  const ended = Promise.all(running);
  return {
    stop: async () => {
      ending.abort();
      await ended;
    },
  };
}
