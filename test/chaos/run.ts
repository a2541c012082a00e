import { setTimeout as sleep } from 'node:timers/promises';
import { recovery } from '../support/clickhouse-server/probes.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { Random } from '../support/random.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import { AGENT, type Account, contentOf, startLoad } from './load.ts';

export type ChaosOptions = {
  cycles: number;
  seed: number;
  senders?: number;
  onCycle?: (cycle: number) => void;
};

export type ChaosReport = {
  seed: number;
  cycles: number;
  seconds: number;
  kills: Record<string, number>;
  answers: Record<string, number>;
  slowest_answer_ms: number;
  events_tried: number;
  acknowledged: number;
  stored: number;
  /** Acknowledged but missing. */
  lost: string[];
  /** Present more than once, merged or not, 20 s after the end. */
  doubled: string[];
  /** Present, but never sent. */
  invented: string[];
  /** Present, with a content that was never sent under this id. */
  altered: string[];
  recovery_ms_max: number;
};

/** It takes 5 s at most if nothing else runs. */
const SETTLE_MS_MAX = 20_000;

/** Two services on one store under load; in each cycle one of the three is killed with SIGKILL and comes back. */
export async function runChaos({ cycles, seed, senders = 32, onCycle }: ChaosOptions): Promise<ChaosReport> {
  const startMs = performance.now();
  const generator = new Random(seed);
  const random = () => generator.real();
  const server = await startClickHouse();
  const dataDir = temporaryDirectory();
  const start = () => startTestService({ dataDir, env: onServer(server) });
  const services: (TestService | undefined)[] = [await start(), await start()];
  const key = services[0]?.key ?? '';
  const url = () => services[random() < 0.5 ? 0 : 1]?.url;
  const load = startLoad({ senders, key, random, url });
  const kills: Record<string, number> = { service: 0, store: 0 };
  const recoveries: number[] = [];
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    await sleep(100 + random() * 700);
    // Each once, then any.
    const victim = cycle <= 3 ? cycle % 3 : Math.floor(random() * 3);
    kills[victim === 2 ? 'store' : 'service'] = (kills[victim === 2 ? 'store' : 'service'] ?? 0) + 1;
    await killAndBringBack({ victim, server, services, start, random });
    for (const service of services) {
      if (service !== undefined) recoveries.push(await recovery(service, `${AGENT} probe`));
    }
    onCycle?.(cycle);
  }
  await load.end();
  const verdict = await judge(server, load.account);
  for (const service of services) await service?.stop();
  await server.kill();
  return {
    seed,
    cycles,
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    kills,
    answers: load.account.statuses,
    slowest_answer_ms: Math.round(load.account.slowestMs),
    events_tried: load.account.tried.size,
    acknowledged: load.account.acknowledged.size,
    ...verdict,
    recovery_ms_max: Math.round(Math.max(...recoveries)),
  };
}

type Scene = {
  victim: number;
  server: ClickHouseServer;
  services: (TestService | undefined)[];
  start: () => Promise<TestService>;
  random: () => number;
};

async function killAndBringBack({ victim, server, services, start, random }: Scene): Promise<void> {
  if (victim === 2) {
    await server.kill();
    await sleep(random() * 1500);
    return server.start();
  }
  const service = services[victim];
  services[victim] = undefined;
  await service?.kill();
  await sleep(random() * 500);
  services[victim] = await start();
}

type Verdict = Pick<ChaosReport, 'stored' | 'lost' | 'doubled' | 'invented' | 'altered'>;

/** Every existing row, not only those that a read would show: conflicts of two services must be resolved by now. */
async function judge(server: ClickHouseServer, { acknowledged, tried }: Account): Promise<Verdict> {
  const sql = `SELECT toString(event_id) AS id, occurred_at, outcome, reason, tool_name, role, user_id, session_id
    FROM decisions WHERE agent_name = '${AGENT}'`;
  for (const endMs = performance.now() + SETTLE_MS_MAX; ; await sleep(250)) {
    const rows = await server.query<{ id: string; occurred_at: string }>(sql);
    const stored = new Set<string>();
    const doubled: string[] = [];
    for (const { id } of rows)
      if (stored.has(id)) doubled.push(id);
      else stored.add(id);
    if (doubled.length > 0 && performance.now() < endMs) continue;
    return {
      stored: stored.size,
      lost: [...acknowledged].filter((id) => !stored.has(id)),
      doubled,
      invented: [...stored].filter((id) => !tried.has(id)),
      altered: rows
        .filter((row) => tried.get(row.id)?.has(contentOf(asSent(row))) === false)
        .map(({ id }) => id),
    };
  }
}

/** ClickHouse writes a time with a space and without its zone. */
function asSent<Row extends { occurred_at: string }>(row: Row): Row {
  return { ...row, occurred_at: `${row.occurred_at.replace(' ', 'T')}Z` };
}
