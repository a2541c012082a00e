// Simulates service processes on one store: node simulate.ts '<options as JSON>' prints the figures as JSON. The same seed gives the same
// figures. Runs in a separate process, because its time is virtual.
import { runUntil } from './virtual-time.ts';
import { Random } from '../support/random.ts';
import { Fleet } from './fleet.ts';
import type { Figures, SimulationOptions } from './options.ts';
import { SimulatedStore } from './store.ts';

/** How many rows a second are simulated one by one. With more, a row represents several. */
const ROWS_PER_SECOND_MAX = 20_000;
const WARM_UP_MS = 1000;
/** Until the last look at uncertain inserts. */
const SETTLED_MS = 70_000;

async function simulate(options: SimulationOptions): Promise<Figures> {
  const { seed, seconds, load, cost, mergeMs, batchRowsMax, queueRowsMax, interval, ...rest } = options;
  const random = new Random(seed);
  const perRow = 'perSecond' in load ? Math.ceil(load.perSecond / ROWS_PER_SECOND_MAX) : 1;
  const shared = { mergeMs, random: () => random.real() };
  const store = new SimulatedStore({
    ...rest,
    ...shared,
    cost,
    eventsPerRow: perRow,
  });
  const endMs = WARM_UP_MS + seconds * 1000;
  const fleet = new Fleet(store, {
    ...shared,
    processes: options.processes,
    load: 'perSecond' in load ? { perSecond: load.perSecond / perRow } : load,
    endMs,
    interval: { ...interval, rowsMin: interval.rowsMin / perRow },
    batchRowsMax: Math.ceil(batchRowsMax / perRow),
    queueRowsMax: Math.ceil(queueRowsMax / perRow),
  });
  await runUntil(endMs + SETTLED_MS);
  await Promise.race([fleet.drain(), runUntil(endMs + 2 * SETTLED_MS)]);
  const isCounted = ([atMs]: readonly [number, number]) => atMs >= WARM_UP_MS && atMs < endMs;
  const waits = fleet.latencies
    .filter(isCounted)
    .map(([, ms]) => ms)
    .sort((a, b) => a - b);
  const partsOf = (table: 'decisions' | 'event_identities') =>
    store.parts[table].filter(isCounted).length / options.shards / seconds;
  const share = (part: number) => Math.round(waits[Math.floor(waits.length * part)] ?? Number.NaN);
  const inSecond = Map.groupBy(
    store.parts.decisions.filter(isCounted),
    ([atMs, shard]) => `${shard} ${Math.floor(atMs / 1000)}`,
  );
  return {
    partsPerShardAndSecond: partsOf('decisions'),
    partsInWorstSecond: Math.max(0, ...Array.from(inSecond.values(), (parts) => parts.length)),
    identityPartsPerShardAndSecond: partsOf('event_identities'),
    p50Ms: share(0.5),
    p99Ms: share(0.99),
    acknowledgedShare: fleet.acknowledged.length / fleet.sent,
    refusedShare: fleet.refused / fleet.sent,
    rowsPerInsert: (fleet.flushes.reduce((sum, { rows }) => sum + rows, 0) / fleet.flushes.length) * perRow,
    flushes: fleet.flushes.length,
    flushMs: fleet.flushes.reduce((sum, { ms }) => sum + ms, 0) / fleet.flushes.length,
    queuedRowsMax: fleet.queuedRowsMax * perRow,
    gatheredMegabytesMax: store.gatheredBytesMax / 1e6,
    ...store.records.compare(fleet.acknowledged),
  };
}

const [given = '{}'] = process.argv.slice(2);
process.stdout.write(`${JSON.stringify(await simulate(JSON.parse(given) as SimulationOptions))}\n`);
