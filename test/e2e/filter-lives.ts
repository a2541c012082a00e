import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createCommits } from '../../server/commit/create-commits.ts';
import { readConfig } from '../../server/config.ts';
import { DECISION_COLUMNS } from '../../server/ingest/decision-event.ts';
import { LLM_COLUMNS } from '../../server/ingest/llm-invocation.ts';
import { createLogger } from '../../server/logger.ts';
import { createMetrics } from '../../server/metrics.ts';
import { connectEmbedded } from '../../server/store/connection.ts';
import { createStore } from '../../server/store/store.ts';
import { eventually } from '../support/eventually.ts';
import { Random } from '../support/random.ts';
import { entriesOf } from './exactness/world.ts';
import type { ModelRecord } from './exactness/model.ts';
import type { Entry } from '../../server/commit/write-queue.ts';

const PROJECT = 'project';
const UNIVERSE = 300;
const WRITES = 60;
const IDENTITY = ['stream', 'project_id', 'event_id', 'occurred_at', 'received_at'];

export type Life = {
  dataDir: string;
  seed: number;
  kind: 'stop' | 'kill' | 'saved-kill' | 'command' | 'foreign';
};
/** The results of a life's writes, by event_id, and how it got its filter. */
export type Answers = { results: [string, string][]; filter: string };

/** The identities that all lives write repeatedly. */
export function idAt(index: number): string {
  return `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
}

/** Called in a separate process. `taken` are the identities that a writer other than the service must not write. */
export async function live({ taken, ...life }: Life & { taken: string[] }): Promise<Answers> {
  const random = new Random(life.seed);
  const ids = Array.from({ length: WRITES }, () => idAt(random.below(UNIVERSE)));
  if (life.kind === 'stop' || life.kind.endsWith('kill')) return serve(life, ids);
  const fresh = [...new Set(ids)].filter((id) => !taken.includes(id)).slice(0, 10);
  await writeBeside(life, { ids: fresh, copiesIdentities: random.chance(0.5) });
  return { results: fresh.map((id) => [id, 'accepted']), filter: '' };
}

async function serve({ dataDir, kind }: Life, ids: string[]): Promise<Answers> {
  const config = readConfig({ GATE_DATA_DIR: dataDir });
  const store = createStore(config, createLogger('silent'));
  const lines: string[] = [];
  const logger = Object.assign(createLogger('silent'), {
    info: ({ stream, reason = '' }: Record<string, string>, text: string) =>
      stream === 'decisions' ? lines.push(`${text} ${reason}`) : undefined,
  });
  const metrics = createMetrics({ isStoreUp: store.isUp });
  const columns = { decisions: DECISION_COLUMNS, llm_invocations: LLM_COLUMNS };
  await store.ready();
  const commits = createCommits(store, { config, columns, metrics, logger, now: Date.now });
  const writeAll = (some: string[]) =>
    Promise.all(
      some.map(async (id): Promise<[string, string]> => [id, await commits.decisions.write(entry(id))]),
    );
  const results = await writeAll(ids.slice(0, WRITES / 2));
  // Saved while it is in use, and before the rest is written.
  if (kind === 'saved-kill')
    await eventually(async () => existsSync(join(dataDir, 'handover-identities-decisions.behind')));
  results.push(...(await writeAll(ids.slice(WRITES / 2))));
  if (kind.endsWith('kill')) {
    process.stdout.write(JSON.stringify({ results, filter: lines.join('; ') }), () =>
      process.kill(process.pid, 'SIGKILL'),
    );
    await new Promise(() => undefined);
  }
  await eventually(() => {
    const areComplete = Object.values(commits.identityFilters() ?? {}).every(Boolean);
    return areComplete;
  });
  await commits.close();
  await store.close();
  return { results, filter: lines.join('; ') };
}

/** Writes like a command, or like a program that does not know of the filter; an interrupted one has not copied the identities. */
async function writeBeside(
  { dataDir, kind }: Life,
  { ids, copiesIdentities }: { ids: string[]; copiesIdentities: boolean },
): Promise<void> {
  const store =
    kind === 'command'
      ? createStore(readConfig({ GATE_DATA_DIR: dataDir }), createLogger('silent'))
      : undefined;
  await store?.ready();
  const connection = store?.background ?? connectEmbedded(`${dataDir}/clickhouse`, {});
  const entries = ids.map(entry);
  const lines = entries.map(({ line }) => line);
  await connection.insert({ table: 'decisions', columns: DECISION_COLUMNS, lines, token: '' });
  const identities = entries.map(({ identity: { event_id, occurredAtMs, receivedAtMs } }) =>
    JSON.stringify(['decisions', PROJECT, event_id, occurredAtMs, receivedAtMs]),
  );
  if (copiesIdentities)
    await connection.insert({ table: 'event_identities', columns: IDENTITY, lines: identities, token: '' });
  await (store ?? connection).close();
}

function entry(event_id: string): Entry {
  const nowMs = Date.now();
  const texts = { agent_name: 'a', tool_name: 't', role: '', user_id: '', session_id: '' };
  const record = { event_id, occurredAtMs: nowMs, outcome: 'allow', ...texts } as ModelRecord;
  return entriesOf(PROJECT, [record], nowMs).decisions[0] as Entry;
}
