import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { Stream } from './identity.ts';
import { HOUR_MS } from '../durations.ts';
import { RETENTION_MS } from '../limits.ts';

/** An identity is copied within seconds of its record, so the search begins this long before the newest one. */
export const LOOK_BACK_MS = HOUR_MS;
const SMALL_PART_ROWS = 1_000_000;

type FillOptions = {
  stream: Stream;
  /** All identities of records received before this time are in event_identities. By default, the time of the newest one there. */
  copiedMs?: number | undefined;
  nowMs: number;
};

/** Adds identities that a crash kept out of event_identities. Must come before anything else is written. */
export async function fillIdentities(
  connection: Connection,
  { stream, copiedMs, nowMs }: FillOptions,
): Promise<void> {
  // The clock may have been set back since.
  const fromMs = Math.min(copiedMs ?? (await newestMs(connection, stream)), nowMs);
  const since = clickhouseTime(fromMs - LOOK_BACK_MS);
  const alive_since = clickhouseTime(nowMs - RETENTION_MS);
  await connection.command(sql('identities_fill'), { stream, table: stream, since, alive_since });
}

/** When the newest record whose identity was copied was received, or an earlier record; 0 if there is none. */
async function newestMs(connection: Connection, stream: Stream): Promise<number> {
  for (const part_rows_max of [SMALL_PART_ROWS, null]) {
    const params = { stream, part_rows_max };
    const [row] = await connection.query<{ newest: string }>(sql('identities_newest'), params);
    const newest = Number(row?.newest ?? 0);
    if (newest > 0) return newest;
  }
  return 0;
}
