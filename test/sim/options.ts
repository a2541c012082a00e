import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** The cost of a part: milliseconds of one core, and more for each row. */
export type Cost = { partMs: number; rowMs: number };

/** The cost of a lookup of identities on a core of one replica of every shard: per statement, and per identity in it. */
type LookUpCost = { queryMs: number; idMs: number };

/** Where and how rows are written. */
export type StoreOptions = {
  cost: Cost;
  shards: number;
  replicas: number;
  /** Of each node. */
  cores: number;
  /** From one machine to another. */
  hopMs: number;
  lookUp: LookUpCost;
  /** GATE_ASYNC_INSERT_MS; 0: off. */
  mergeMs: number;
  /** The share of inserts whose connection breaks: half of them before the store has the rows, half at any moment after. */
  brokenShare: number;
  /** The first replica of each shard is unavailable during this time. */
  away?: { fromMs: number; toMs: number } | undefined;
};

/** Events a second of all processes, at random moments; or this many callers that send again when they are answered. */
type Load = { perSecond: number } | { callers: number };

export type SimulationOptions = StoreOptions & {
  seed: number;
  /** Counted, after a second to warm up. */
  seconds: number;
  processes: number;
  load: Load;
  interval: { intervalMs: number; rowsMin: number };
  batchRowsMax: number;
  queueRowsMax: number;
};

export type Figures = {
  partsPerShardAndSecond: number;
  partsInWorstSecond: number;
  identityPartsPerShardAndSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the events that were sent. */
  acknowledgedShare: number;
  /** Attempts answered with 503, for each event. */
  refusedShare: number;
  rowsPerInsert: number;
  flushes: number;
  flushMs: number;
  /** In the queue of one process. */
  queuedRowsMax: number;
  /** In one queue of async_insert. */
  gatheredMegabytesMax: number;
  /** Acknowledged events that are missing. */
  lost: number;
  /** Events with two bodies when everything is resolved. */
  doubled: number;
  /** Rows that are stored twice, byte for byte, until a merge. */
  copies: number;
};

/** One process of the service, as it is by default, on one server of 16 cores. */
export const ONE_SERVER: SimulationOptions = {
  seed: 1,
  seconds: 4,
  processes: 1,
  load: { perSecond: 1000 },
  shards: 1,
  replicas: 1,
  cores: 16,
  // Measured with the embedded engine, with fsync, on two cores: 8 ms for one row, 130 ms for 10,000.
  cost: { partMs: 8, rowMs: 0.012 },
  hopMs: 0.25,
  // Measured with 5 million identities: 4 ms for 100, 40 to 60 ms for 1,300, which are in as many places.
  lookUp: { queryMs: 2, idMs: 0.03 },
  mergeMs: 0,
  brokenShare: 0,
  interval: { intervalMs: 0, rowsMin: 4000 },
  batchRowsMax: 5000,
  queueRowsMax: 50_000,
};

/** Runs a simulation in a separate process. */
export async function simulate(options: SimulationOptions): Promise<Figures> {
  const script = fileURLToPath(new URL('simulate.ts', import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`The simulation ended with ${code}`);
  return JSON.parse(out) as Figures;
}
