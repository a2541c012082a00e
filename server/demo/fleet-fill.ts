import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { FLEET_USERS, type FleetDay, fleetDays, fleetJson } from './fleet-plan.ts';

export type FleetOptions = {
  projectId: string;
  /** Of each agent of the fleet, '' where it is not registered. */
  versionIds: string[];
  rows: number;
  days: number;
  seed: number;
  nowMs: number;
  onProgress: (progress: FleetProgress) => void;
};
export type FleetProgress = { step: 'write' | 'merge'; done: number; of: number; rows: number };

/** One call of a model for so many decisions. */
const DECISIONS_PER_CALL = 4;
const STREAMS = ['decisions', 'llm_invocations'] as const;

/** Writes the fleet day by day through the engine itself, then merges each day as time would. */
export async function fillFleet(connection: Connection, options: FleetOptions): Promise<number> {
  const { onProgress } = options;
  const days = fleetDays(options);
  let rows = 0;
  for (const [index, day] of days.entries()) {
    await writeDay(connection, day, options);
    rows += day.rows;
    onProgress({ step: 'write', done: index + 1, of: days.length, rows });
  }
  for (const [index, { day }] of days.entries()) {
    for (const table of STREAMS) await connection.command(sql('day_merge'), { table, day });
    onProgress({ step: 'merge', done: index + 1, of: days.length, rows });
  }
  return rows;
}

async function writeDay(connection: Connection, day: FleetDay, options: FleetOptions): Promise<void> {
  const { projectId, versionIds, seed, nowMs } = options;
  const common = {
    project_id: projectId,
    seed,
    day: day.day,
    until: clickhouseTime(nowMs),
    users: FLEET_USERS,
    fleet: fleetJson(day, versionIds),
  };
  await connection.command(sql('fleet_day'), { ...common, rows: day.rows });
  await connection.command(sql('fleet_usage_day'), {
    ...common,
    rows: Math.floor(day.rows / DECISIONS_PER_CALL),
  });
  for (const stream of STREAMS)
    await connection.command(sql('fleet_identities'), {
      stream,
      table: stream,
      project_id: projectId,
      day: day.day,
    });
}
