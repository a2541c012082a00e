// Prints parts, latencies, memory, and lost and doubled events with 1 to 200 processes at 1,000, 100,000 and 1,000,000 events a second:
// node test/sim/main.ts [first letters of a name].
import { type Figures, ONE_SERVER, simulate, type SimulationOptions } from './options.ts';

type Case = Partial<SimulationOptions> & { name: string };

const MERGED = { mergeMs: 125, batchRowsMax: 20_000 };
const at = (perSecond: number, processes: number) => ({ load: { perSecond }, processes });
const CLUSTER = { shards: 8, replicas: 3, cores: 32 };
/** The cluster of 100k/s with its 24 processes, long enough to recover. */
const FAULTY = { ...at(100_000, 24), ...CLUSTER, ...MERGED, seconds: 10 };
const AWAY = { fromMs: 2000, toMs: 4000 };
const LARGE = { shards: 80, replicas: 3, cores: 32, seconds: 2 };

const CASES: Case[] = [
  { name: '1k/s, one server', ...at(1000, 1) },
  { name: '1k/s, one server', ...at(1000, 24) },
  { name: '1k/s, one server, 250 ms apart', ...at(1000, 2), interval: { intervalMs: 250, rowsMin: 4000 } },
  { name: '1k/s, one server, merged', ...at(1000, 2), ...MERGED },
  { name: '1k/s, one server, merged', ...at(1000, 200), ...MERGED },
  { name: '100k/s, 8 shards', ...at(100_000, 24), ...CLUSTER },
  { name: '100k/s, 8 shards, merged', ...at(100_000, 6), ...CLUSTER, ...MERGED },
  { name: '100k/s, 8 shards, merged', ...at(100_000, 24), ...CLUSTER, ...MERGED },
  { name: '100k/s, 8 shards, merged', ...at(100_000, 200), ...CLUSTER, ...MERGED },
  { name: '1M/s, 80 shards', ...at(1_000_000, 200), ...LARGE, seconds: 1 },
  { name: '1M/s, 80 shards, merged', ...at(1_000_000, 200), ...LARGE, ...MERGED },
  { name: 'faults: 1 of 10 inserts breaks', ...FAULTY, brokenShare: 0.1 },
  { name: 'faults: 1 of 3 replicas away for 2 s', ...FAULTY, away: AWAY },
  { name: 'faults: 1 of 2 replicas away for 2 s', ...FAULTY, replicas: 2, away: AWAY },
];

const COLUMNS: [string, (figures: Figures) => string | number][] = [
  ['parts a shard and s', ({ partsPerShardAndSecond: n }) => n.toFixed(1)],
  ['worst s', ({ partsInWorstSecond: n }) => n],
  ['of identities', ({ identityPartsPerShardAndSecond: n }) => n.toFixed(1)],
  ['p50 ms', ({ p50Ms: n }) => n],
  ['p99 ms', ({ p99Ms: n }) => n],
  ['202 %', ({ acknowledgedShare: n }) => (100 * n).toFixed(1)],
  ['503 an event', ({ refusedShare: n }) => n.toFixed(2)],
  ['rows an insert', ({ rowsPerInsert: n }) => Math.round(n)],
  ['queued rows', ({ queuedRowsMax: n }) => n],
  ['gathered MB', ({ gatheredMegabytesMax: n }) => n.toFixed(1)],
  ['lost', ({ lost }) => lost],
  ['doubled', ({ doubled }) => doubled],
  ['copies', ({ copies }) => copies],
];

const print = (cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);
const [only = ''] = process.argv.slice(2);
print(['case', 'processes', ...COLUMNS.map(([name]) => name)]);
print(['---', ...COLUMNS.map(() => '---:'), '---:']);
for (const { name, ...options } of CASES.filter((one) => one.name.startsWith(only))) {
  const figures = await simulate({ ...ONE_SERVER, ...options });
  print([name, options.processes ?? 1, ...COLUMNS.map(([, of]) => of(figures))]);
}
