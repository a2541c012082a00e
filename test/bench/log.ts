import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkCounts,
  endRivals,
  measure,
  printTable,
  type Rival,
  type Run,
  startGatehouse,
} from './ingest.ts';
import { median } from './median.ts';
import { fileSystemOf, temporaryDirectory } from './process.ts';

const WITHOUT_LOG = `--import=${new URL('../support/without-log.ts', import.meta.url).href}`;
const LOADS: { connections: number; batch?: number }[] = [
  { connections: 64 },
  { connections: 256 },
  { connections: 8, batch: 500 },
];

type Pair = [withLog: Rival, without: Rival];

/** What the log costs ingest: two services, of which one never starts its sequencer, in alternation. */
export async function benchLog({ seconds, rounds }: { seconds: number; rounds: number }): Promise<void> {
  const directory = temporaryDirectory();
  console.log(`The stores lie in ${directory}, on ${fileSystemOf(directory)}.`);
  const rivals: Rival[] = [];
  try {
    const start = async (name: string, env: Record<string, string>) => {
      const rival = { ...(await startGatehouse(join(directory, name), env)), name };
      rivals.push(rival);
      return rival;
    };
    const pair: Pair = [
      await start('(a) with the log', {}),
      await start('(b) without the log', { NODE_OPTIONS: WITHOUT_LOG }),
    ];
    for (const rival of pair) await measure(rival, { connections: 64, seconds: 2 });
    for (const load of LOADS) await compare(pair, { ...load, seconds, rounds });
    await checkCounts(rivals);
  } finally {
    await endRivals(rivals);
    rmSync(directory, { recursive: true, force: true });
  }
}

type Comparison = { connections: number; batch?: number; seconds: number; rounds: number };

async function compare(pair: Pair, { rounds, ...load }: Comparison): Promise<void> {
  const runs = new Map<Rival, Run[]>(pair.map((rival) => [rival, []]));
  const [throughputs, p99s]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    // Each goes first as often as the other.
    const order = round % 2 === 0 ? pair : pair.toReversed();
    for (const rival of order) runs.get(rival)?.push(await measure(rival, load));
    const [a, b] = pair.map((rival) => runs.get(rival)?.at(-1)) as [Run, Run];
    throughputs.push(a.perSecond / b.perSecond);
    p99s.push(a.p99 / b.p99);
  }
  const { connections, batch } = load;
  printTable(`${connections} connections${batch === undefined ? '' : ` × ${batch} events`}`, runs);
  console.log(
    `\nWith the log: ${median(throughputs).toFixed(3)} of the throughput, p99 × ${median(p99s).toFixed(3)} (medians of ${rounds} rounds)`,
  );
}
