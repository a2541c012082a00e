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

/** With the log, without it, and without it again: what two equal services differ by is noise. */
type Trio = [withLog: Rival, without: Rival, again: Rival];

/** What the log costs ingest: services of which only the first starts its sequencer, in alternation. */
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
    const trio: Trio = [
      await start('(a) with the log', {}),
      await start('(b) without the log', { NODE_OPTIONS: WITHOUT_LOG }),
      await start('(c) without it again', { NODE_OPTIONS: WITHOUT_LOG }),
    ];
    for (const rival of trio) await measure(rival, { connections: 64, seconds: 2 });
    for (const load of LOADS) await compare(trio, { ...load, seconds, rounds });
    await checkCounts(rivals);
  } finally {
    await endRivals(rivals);
    rmSync(directory, { recursive: true, force: true });
  }
}

type Comparison = { connections: number; batch?: number; seconds: number; rounds: number };

async function compare(trio: Trio, { rounds, ...load }: Comparison): Promise<void> {
  const runs = new Map<Rival, Run[]>(trio.map((rival) => [rival, []]));
  for (let round = 0; round < rounds; round += 1) {
    // The first and the last swap places.
    const order = round % 2 === 0 ? trio : trio.toReversed();
    for (const rival of order) runs.get(rival)?.push(await measure(rival, load));
  }
  const { connections, batch } = load;
  printTable(`${connections} connections${batch === undefined ? '' : ` × ${batch} events`}`, runs);
  const [withLog, without, again] = trio.map((rival) => runs.get(rival)) as [Run[], Run[], Run[]];
  console.log(`\nMedians of ${rounds} rounds. (a) ÷ (b): ${ratios(withLog, without)}.`);
  console.log(`(c) ÷ (b), which is noise: ${ratios(again, without)}.`);
}

function ratios(runs: Run[], others: Run[]): string {
  const of = (figure: 'perSecond' | 'p99') =>
    median(runs.map((run, round) => run[figure] / (others[round]?.[figure] ?? 0))).toFixed(3);
  return `throughput ${of('perSecond')}, p99 ${of('p99')}`;
}
