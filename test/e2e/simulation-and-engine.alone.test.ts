import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { GroupCommit } from '../../server/commit/group-commit.ts';
import { IdentityIndex } from '../../server/commit/identity-index.ts';
import { DECISION_COLUMNS } from '../../server/ingest/decision-event.ts';
import { createLogger } from '../../server/logger.ts';
import type { Store } from '../../server/store/store.ts';
import { median } from '../bench/median.ts';
import { type Cost, ONE_SERVER, simulate } from '../sim/options.ts';
import { openStore } from '../support/engine.ts';
import { entryOf } from '../support/rows.ts';

// In a separate file that runs alone, because it compares times.

/** The allowed error of the simulation, in either direction. */
const FACTOR = 2;
const CALLERS = 32;
const SECONDS = 2;

describe('the simulation and the embedded engine', () => {
  let store: Store;
  before(async () => {
    store = await openStore();
  });
  after(() => store.close());

  async function insertMs(rows: number): Promise<number> {
    const took: number[] = [];
    for (let i = 0; i < 15; i += 1) {
      const lines = Array.from({ length: rows }, () => entryOf('cost').line);
      const startMs = performance.now();
      await store.writer.insert({ table: 'decisions', columns: DECISION_COLUMNS, lines, token: undefined });
      took.push(performance.now() - startMs);
    }
    return median(took);
  }

  async function measureCost(): Promise<Cost> {
    const [one, many] = [await insertMs(1), await insertMs(1000)];
    return { partMs: one, rowMs: Math.max(0, many - one) / 999 };
  }

  /** Each insert takes the next block number of its partition. */
  async function inserts(): Promise<number> {
    const [row] = await store.lookups.query<{ n: string }>(
      "SELECT sum(n) AS n FROM (SELECT max(max_block_number) AS n FROM system.parts WHERE table = 'decisions' GROUP BY partition)",
    );
    return Number(row?.n);
  }

  /** Callers that send again immediately, for a while. */
  async function load(): Promise<{ parts: number; rowsPerInsert: number; flushMs: number }> {
    const shared = { stream: 'decisions', connection: store.writer } as const;
    const identities = new IdentityIndex({
      ...shared,
      connection: store.lookups,
      logger: createLogger('silent'),
      now: Date.now,
    });
    const flushes: { rows: number; seconds: number }[] = [];
    const commit = new GroupCommit({
      ...shared,
      columns: DECISION_COLUMNS,
      identities,
      ready: store.ready,
      batchRowsMax: 5000,
      queueRowsMax: 50_000,
      queueBytesMax: 1e8,
      onFlush: (flush) => flushes.push(flush),
      onQueue: () => undefined,
    });
    const like = entryOf(randomUUID());
    const next = () => {
      const event_id = randomUUID();
      const line = like.line.replace(like.identity.event_id, event_id);
      return { identity: { ...like.identity, event_id }, line };
    };
    await commit.write(next());
    flushes.length = 0;
    const before = await inserts();
    const endMs = performance.now() + SECONDS * 1000;
    const call = async () => {
      while (performance.now() < endMs) await commit.write(next());
    };
    await Promise.all(Array.from({ length: CALLERS }, call));
    const parts = (await inserts()) - before;
    await commit.drain();
    await identities.close();
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    return {
      parts,
      rowsPerInsert: sum(flushes.map(({ rows }) => rows)) / flushes.length,
      flushMs: (sum(flushes.map(({ seconds }) => seconds)) * 1000) / flushes.length,
    };
  }

  it(`agree within a factor of ${FACTOR}: parts, rows an insert, time of a flush`, async () => {
    const cost = await measureCost();
    const real = await load();
    const callers = { load: { callers: CALLERS }, cores: 2, hopMs: 0, lookUp: { queryMs: 0, idMs: 0 } };
    const simulated = await simulate({ ...ONE_SERVER, ...callers, cost, seconds: SECONDS });

    const pairs: Record<string, [number, number]> = {
      parts: [real.parts, simulated.partsPerShardAndSecond * SECONDS],
      rowsPerInsert: [real.rowsPerInsert, simulated.rowsPerInsert],
      flushMs: [real.flushMs, simulated.flushMs],
    };
    for (const [name, [measured, predicted]] of Object.entries(pairs))
      expect(predicted / measured, `${name}: ${measured}, simulated ${predicted}`).to.be.within(
        1 / FACTOR,
        FACTOR,
      );
  });
});
