import type { AgentSaver } from '../agents/agent-saver.ts';
import type { Flushes } from '../commit/flush-numbers.ts';
import type { Connection } from '../store/connection.ts';
import { type Stream, STREAMS } from '../records/ledger.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { FLEET_AGENTS, manifestOf, policyOf } from './fleet-agents.ts';
import { FLEET_USERS, type FleetDay, fleetDays, fleetJson } from './fleet-plan.ts';

export type FleetOptions = {
  projectId: string;
  /** One for each agent of the fleet. */
  versionIds: string[];
  rows: number;
  days: number;
  seed: number;
  nowMs: number;
  /** Is notified of the inserts, so that the decisions enter the log. */
  flushes: Flushes;
  /** Only rows after this time are written. Default: all. */
  since?: Record<Stream, string>;
  /** Merges each day into one part, as the engine would do later. */
  isMerged?: boolean;
  signal?: AbortSignal;
  onProgress?: (progress: FleetProgress) => void;
};
export type FleetProgress = { step: 'write' | 'merge'; done: number; of: number; rows: number };

const DECISIONS_PER_CALL = 4;
/** Its senders end without a close report. */
const SILENT_AGENT = 'incident-responder';
const EPOCH = clickhouseTime(0);

/** Registers the agents of the fleet and saves their policies. Agents that have both are left unchanged. */
export async function registerFleet(agentSaver: AgentSaver, projectId: string): Promise<string[]> {
  const who = { projectId, by: 'demo' };
  const versionIds: string[] = [];
  for (const agent of FLEET_AGENTS) {
    const { name } = agent;
    const registered = await agentSaver.register({ name, tools: manifestOf(agent) }, who);
    const edit = { policy_yaml: policyOf(agent) };
    const { version } =
      registered.version.version === 1
        ? await agentSaver.edit(name, { edit, ifMatch: undefined }, who)
        : registered;
    versionIds.push(version.agent_version_id);
  }
  return versionIds;
}

/**
 * Writes the fleet, the oldest day first. A day is one insert, so there are no gaps. Resolves with the number of decisions that were
 * written.
 */
export async function fillFleet(connection: Connection, options: FleetOptions): Promise<number> {
  const { isMerged = false, onProgress, signal } = options;
  const days = fleetDays(options);
  let rows = 0;
  for (const [index, day] of days.entries()) {
    for (const stream of STREAMS) {
      signal?.throwIfAborted();
      rows += await writeDay(connection, { stream, day }, options);
    }
    onProgress?.({ step: 'write', done: index + 1, of: days.length, rows });
  }
  for (const [index, { day }] of (isMerged ? days : []).entries()) {
    for (const table of STREAMS) await connection.command(sql('day_merge'), { table, day });
    onProgress?.({ step: 'merge', done: index + 1, of: days.length, rows });
  }
  return rows;
}

async function writeDay(
  connection: Connection,
  { stream, day: { day, ...plan } }: { stream: Stream; day: FleetDay },
  { projectId, versionIds, seed, nowMs, flushes, since }: FleetOptions,
): Promise<number> {
  const isDecisions = stream === 'decisions';
  const flush = flushes.next();
  const target = { project_id: projectId, day, since: since?.[stream] ?? EPOCH };
  await connection.command(sql(isDecisions ? 'fleet_day' : 'fleet_usage_day'), {
    ...target,
    seed,
    flush: `${flush}`,
    until: clickhouseTime(nowMs),
    users: FLEET_USERS,
    fleet: fleetJson({ day, ...plan }, versionIds),
    rows: isDecisions ? plan.rows : Math.floor(plan.rows / DECISIONS_PER_CALL),
  });
  await connection.command(sql('fleet_identities'), { ...target, stream, table: stream });
  if (!isDecisions) return 0;
  await connection.command(sql('fleet_closes'), { ...target, flush: `${flush}`, silent: SILENT_AGENT });
  flushes.ended(flush, { isSettled: true, projects: new Set([projectId]) });
  // Not the planned number: the rest of today is left out.
  const [row] = await connection.query<{ rows: string }>(sql('fleet_day_rows'), {
    ...target,
    flush: `${flush}`,
  });
  return Number(row?.rows ?? 0);
}
