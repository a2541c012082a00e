import { GroupCommit } from '../../server/commit/group-commit.ts';
import { IdentityConflicts } from '../../server/commit/identity-conflicts.ts';
import { IdentityIndex } from '../../server/commit/identity-index.ts';
import { QUEUE_BYTES_MAX } from '../../server/limits.ts';
import { createLogger } from '../../server/logger.ts';
import { ONE_NODE } from '../../server/store/engines.ts';
import type { SimulationOptions } from './options.ts';
import { lineOf } from './records.ts';
import type { SimulatedStore } from './store.ts';
import { after, pass } from './virtual-time.ts';

type FleetOptions = Pick<
  SimulationOptions,
  'processes' | 'load' | 'mergeMs' | 'interval' | 'batchRowsMax' | 'queueRowsMax'
> & { endMs: number; random: () => number };

const RETRY_AFTER_MS = 5000;
const ATTEMPTS_MAX = 5;
const logger = createLogger('silent');

/** Service processes on one store: the real group commit, retries, lookups and removals of each, and their callers. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #commits: GroupCommit[];
  readonly acknowledged: string[] = [];
  /** When each event was acknowledged for the first time, and after how long. */
  readonly latencies: [number, number][] = [];
  readonly flushes: { rows: number; ms: number }[] = [];
  refused = 0;
  sent = 0;
  queuedRowsMax = 0;

  constructor(store: SimulatedStore, options: FleetOptions) {
    this.#options = options;
    this.#commits = Array.from({ length: options.processes }, () => this.#start(store));
    for (const [process, commit] of this.#commits.entries()) this.#load(process, commit);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#commits.map((commit) => commit.drain()));
  }

  #start(store: SimulatedStore): GroupCommit {
    const connection = store.connect();
    const { mergeMs, interval, batchRowsMax, queueRowsMax } = this.#options;
    const shared = { stream: 'decisions', connection, logger } as const;
    const conflicts = new IdentityConflicts({ ...shared, engines: ONE_NODE, now: Date.now });
    return new GroupCommit({
      ...shared,
      columns: [],
      identities: new IdentityIndex({ ...shared, conflicts, now: Date.now }),
      ready: () => Promise.resolve(),
      mergeMs,
      interval,
      batchRowsMax,
      queueRowsMax,
      queueBytesMax: QUEUE_BYTES_MAX,
      onFlush: ({ rows, seconds }) => this.flushes.push({ rows, ms: seconds * 1000 }),
      onQueue: (rows) => (this.queuedRowsMax = Math.max(this.queuedRowsMax, rows)),
    });
  }

  #load(process: number, commit: GroupCommit): void {
    const { load, processes, endMs, random } = this.#options;
    let events = 0;
    const send = () => {
      this.sent += 1;
      const id = `${process.toString(16).padStart(8, '0')}-0000-4000-8000-${(events += 1).toString(16).padStart(12, '0')}`;
      return this.#send(commit, id);
    };
    if ('callers' in load) {
      const call = async () => {
        while (performance.now() < endMs) await send();
      };
      for (let i = process; i < load.callers; i += processes) void call();
      return;
    }
    const meanMs = (1000 * processes) / load.perSecond;
    const next = () => after(-Math.log(1 - random()) * meanMs, arrive);
    const arrive = () => {
      if (performance.now() >= endMs) return;
      void send();
      next();
    };
    next();
  }

  /** Like a careful caller: sends again after a 503. The event then gets a new received_at. */
  async #send(commit: GroupCommit, event_id: string): Promise<void> {
    const sinceMs = performance.now();
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const receivedAtMs = Date.now();
      const identity = { project_id: 'p', event_id, occurredAtMs: receivedAtMs, receivedAtMs };
      try {
        await commit.write({ identity, line: lineOf(event_id, attempt) });
        this.acknowledged.push(event_id);
        this.latencies.push([performance.now(), performance.now() - sinceMs]);
        return;
      } catch {
        this.refused += 1;
        await pass(RETRY_AFTER_MS);
      }
    }
  }
}
