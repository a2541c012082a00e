import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditorState } from '../../server/cli/audit/auditor-state.ts';
import type { Report } from '../../server/cli/audit/report.ts';
import { contentOf, startLoad } from '../chaos/load.ts';
import { fetchAgent, register, type SavedAgent } from '../support/agents.ts';
import { linesOf, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { gate } from '../support/gate.ts';
import type { Random } from '../support/random.ts';
import { startTestService, temporaryDirectory, type TestService } from '../support/service.ts';
import type { Disk } from './disk.ts';

const SENDERS = 16;
const BATCH = 300;
/** The log lags by a second. */
const LOG_MS = 3000;

export type Cut = {
  acknowledged: number;
  lost: number;
  altered: number;
  agents: number;
  agents_lost: number;
  keys_lost: boolean;
  files_damaged: boolean;
  /** 0 if the log verifies and extends what an auditor saw before the cut. */
  log_exit_code: number | undefined;
};

/**
 * Cuts the power of a service with its callers, and reports what a service finds that then starts on the disk. The first cut comes right
 * after the first start.
 */
export async function cutUnderLoad(
  disk: Disk,
  {
    dataDir,
    random,
    cuts,
    onCut,
  }: { dataDir: string; random: Random; cuts: number; onCut: (cut: Cut) => void },
): Promise<void> {
  const state = join(temporaryDirectory(), 'state.json');
  let service = await startTestService({ dataDir });
  const load = startLoad({
    senders: SENDERS,
    key: service.key,
    random: () => random.real(),
    url: () => service.url,
  });
  const more = sendMore(() => service, load.account);
  for (let cut = 1; cut <= cuts; cut += 1) {
    await sleep(cut === 1 ? 300 : 500 + random.below(5000));
    if (cut > 1 && random.chance(0.3)) {
      await (random.chance(0.5) ? service.stop() : service.kill());
      service = await startTestService({ dataDir });
      await sleep(random.below(1000));
    }
    writeFileSync(state, JSON.stringify(await auditorOf(service)));
    const keys = await textOf(service, '/v1/.well-known/keys');
    const before = { ids: new Set(load.account.acknowledged), agents: new Map(more.agents) };
    disk.cut();
    const after = await startTestService({ dataDir: join(disk.copyPath, relative(disk.path, dataDir)) });
    const found = await decisionsOf(after);
    const lost = [...before.ids].filter((id) => !found.has(id));
    const altered = [...found].filter(([id, content]) => load.account.tried.get(id)?.has(content) !== true);
    const lostAgents = await missing(after, before.agents);
    const hasKeys = (await textOf(after, '/v1/.well-known/keys')) === keys;
    await sleep(LOG_MS);
    const options = ['--project', after.project_id, '--url', after.url, '--state', state];
    const { exitCode } = await gate<Report>(dataDir, 'audit', 'verify', ...options);
    await after.stop();
    disk.dropCopy();
    onCut({
      acknowledged: before.ids.size,
      lost: lost.length,
      altered: altered.length,
      agents: before.agents.size,
      agents_lost: lostAgents.length,
      keys_lost: !hasKeys,
      files_damaged: after.output().includes('damaged files'),
      log_exit_code: exitCode,
    });
  }
  more.end();
  await load.end();
  await service.stop();
}

type Account = ReturnType<typeof startLoad>['account'];

/** Batches of decisions, and agents, until the end. */
function sendMore(
  service: () => TestService,
  { tried, acknowledged }: Account,
): { agents: Map<string, string>; end: () => void } {
  const ending = new AbortController();
  const agents = new Map<string, string>();
  const repeat = async (work: () => Promise<void>) => {
    // A restart interrupts requests.
    while (!ending.signal.aborted) await work().catch(() => sleep(100));
  };
  void repeat(async () => {
    const events = Array.from({ length: BATCH }, () => decisionEvent({ agent_name: 'power' }));
    for (const event of events) tried.set(String(event['event_id']), new Set([contentOf(event)]));
    const response = await sendBatch(service(), linesOf(events));
    await response.arrayBuffer();
    if (response.status === 202) for (const event of events) acknowledged.add(String(event['event_id']));
    await sleep(50);
  });
  void repeat(async () => {
    const name = `agent-${agents.size}-${Date.now()}`;
    const response = await register(service(), { name, tools: ['search'] });
    if (response.ok) agents.set(name, ((await response.json()) as SavedAgent).agent_version_id);
    await sleep(200);
  });
  return { agents, end: () => ending.abort() };
}

/** Each decision by its id. A duplicate gets a content that nobody sent. */
async function decisionsOf({ url, project_id }: TestService): Promise<Map<string, string>> {
  const response = await fetch(`${url}/v1/projects/${project_id}/audit/decisions/export`);
  const found = new Map<string, string>();
  for (const line of (await response.text()).split('\n').filter(Boolean)) {
    const row = JSON.parse(line) as Record<string, unknown>;
    const id = String(row['event_id']);
    found.set(id, found.has(id) ? 'twice' : contentOf(row));
  }
  return found;
}

async function missing(service: TestService, agents: Map<string, string>): Promise<string[]> {
  const lost: string[] = [];
  for (const [name, version] of agents) {
    const response = await fetchAgent(service, name);
    const { agent_version_id } = (await response.json()) as Partial<SavedAgent>;
    if (agent_version_id !== version) lost.push(name);
  }
  return lost;
}

/** The state of an auditor who has seen the newest checkpoint, which a cut must not undo. */
async function auditorOf(service: TestService): Promise<AuditorState> {
  const log = `/v1/projects/${service.project_id}/log`;
  const [vkey, checkpoint] = [
    await textOf(service, `${log}/vkey`),
    await textOf(service, `${log}/checkpoint`),
  ];
  return { format: 1, vkey: vkey.trim(), checkpoint, seen: [], late: [] };
}

async function textOf({ url }: TestService, path: string): Promise<string> {
  return (await fetch(url + path)).text();
}
