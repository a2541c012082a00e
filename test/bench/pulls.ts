import { rmSync } from 'node:fs';
import { startGatehouse } from './ingest.ts';
import { endProcess, loadOnlyGood, temporaryDirectory, type LoadResult } from './process.ts';

const CONNECTIONS = 16;
const INGEST_CONNECTIONS = 64;

/** Policy pulls answered with 304: alone, and while ingest is saturated. */
export async function benchPulls({ seconds }: { seconds: number }): Promise<void> {
  const directory = temporaryDirectory();
  const { child, url, key } = await startGatehouse(directory);
  try {
    const fetched = await fetch(new URL('/v1/agents/demo-agent', url), {
      headers: { Authorization: `Bearer ${key}` },
    });
    const pull = { agent: 'demo-agent', etag: fetched.headers.get('etag') ?? '' };
    const pullLoad = { key, connections: CONNECTIONS, seconds, pull };
    await loadOnlyGood(url, { ...pullLoad, seconds: 1 });
    const alone = await loadOnlyGood(url, pullLoad);
    const [, besideIngest] = await Promise.all([
      loadOnlyGood(url, { key, connections: INGEST_CONNECTIONS, seconds: seconds + 1 }),
      loadOnlyGood(url, pullLoad),
    ]);
    console.log(`\nPolicy pulls that answer 304, ${CONNECTIONS} connections\n`);
    console.log('| | 304/s | p50 ms | p99 ms |\n|---|--:|--:|--:|');
    print('alone', alone);
    print(`beside ingest on ${INGEST_CONNECTIONS} connections`, besideIngest);
  } finally {
    await endProcess(child);
    rmSync(directory, { recursive: true, force: true });
  }
}

function print(name: string, { perSecond, p50, p99 }: LoadResult): void {
  console.log(`| ${name} | ${Math.round(perSecond)} | ${p50.toFixed(1)} | ${p99.toFixed(1)} |`);
}
