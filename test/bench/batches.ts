import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkCounts,
  endRivals,
  measure,
  printOthers,
  printTable,
  type Rival,
  type Run,
  startGatehouse,
  signal,
  startPostgresRival,
} from './ingest.ts';
import { median } from './median.ts';
import { fileSystemOf, load, startPostgres, temporaryDirectory } from './process.ts';
import { fill } from './reads.ts';

const CONNECTIONS = 8;
const EVENTS = 500;
const SINGLE_CONNECTIONS = 64;
const BATCH_CONNECTIONS_BESIDE = 4;

type BenchBatches = { seconds: number; rounds: number; stored: number; only?: string };

/** Durable events per second in batches, compared with Express + PostgreSQL with the same batches; then single events alongside batches. */
export async function benchBatches({ seconds, rounds, stored, only = 'ad' }: BenchBatches): Promise<void> {
  const directory = temporaryDirectory();
  const postgres = only.includes('d') ? await startPostgres() : undefined;
  if (postgres === undefined && only.includes('d'))
    console.log('(d) is left out: PostgreSQL is not installed (apt-get install postgresql).');
  console.log(`The stores lie in ${directory}, on ${fileSystemOf(directory)}.`);
  const rivals: Rival[] = [];
  try {
    if (only.includes('a')) {
      if (stored > 0) await fill(join(directory, 'a'), stored);
      rivals.push(await startGatehouse(join(directory, 'a')));
    }
    if (postgres !== undefined) rivals.push(await startPostgresRival(postgres, stored));
    const options = { connections: CONNECTIONS, seconds, batch: EVENTS };
    for (const rival of rivals) await measure(rival, { ...options, seconds: 2 });
    const runs = new Map<Rival, Run[]>(rivals.map((rival) => [rival, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const rival of rivals) runs.get(rival)?.push(await measure(rival, options));
    printTable(`${CONNECTIONS} connections × ${EVENTS} events, ${stored} records in the store`, runs);
    for (const rival of rivals.filter(({ name }) => name.startsWith('(a)')))
      await singleBesideBatches(rival, { seconds, rounds });
    await checkCounts(rivals);
  } finally {
    await endRivals(rivals);
    postgres?.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The p99 of single events alone and alongside batches, alternating. */
async function singleBesideBatches(
  rival: Rival,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<void> {
  signal(rival, 'SIGCONT');
  const { url, key } = rival;
  const single = { key, connections: SINGLE_CONNECTIONS, seconds };
  const batches = { key, connections: BATCH_CONNECTIONS_BESIDE, seconds: seconds + 1, batch: EVENTS };
  const [alone, beside, inBatches]: number[][] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const quiet = await load(url, single);
    const [busy, many] = await Promise.all([load(url, single), load(url, batches)]);
    for (const result of [quiet, busy, many]) printOthers(rival, result);
    alone?.push(quiet.p99);
    beside?.push(busy.p99);
    inBatches?.push(many.perSecond);
    rival.accepted += quiet.accepted + busy.accepted + many.accepted;
  }
  const [before, after] = [median(alone ?? []), median(beside ?? [])];
  console.log(
    `\nSingle events over ${SINGLE_CONNECTIONS} connections: p99 ${before.toFixed(1)} ms alone, ${after.toFixed(1)} ms ` +
      `(${(after / before).toFixed(2)} ×) beside ${BATCH_CONNECTIONS_BESIDE} × ${EVENTS} in batches at ${Math.round(median(inBatches ?? []))} events/s`,
  );
}
