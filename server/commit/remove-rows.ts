import type { Logger } from 'pino';
import type { Connection } from '../store/connection.ts';
import type { Engines } from '../store/engines.ts';
import { sql } from '../store/sql.ts';
import { chunksOf, type Pair, type Stream } from './identity.ts';

/** A row that lost a conflict. day: of its occurred_at. The identity and the version together name one row. */
export type LostRow = Pair & { day: string; version: string };
/** winnerDay: of the occurred_at of the row that has the identity. */
export type Removal = LostRow & { winnerDay: string };

/** Identities in one removal: they must fit into a URL. */
const REMOVED_TOGETHER_MAX = 500;

type RemoveDeps = { connection: Connection; engines: Engines; stream: Stream; logger: Logger };

/**
 * Removes rows of events. Only one call at a time: ClickHouse may lose one of two removals that run at once, even on two partitions, and
 * report success (https://github.com/Altinity/ClickHouse/issues/2331). Another service may run one, so the caller must check afterwards.
 */
export async function removeRows(
  rows: readonly Removal[],
  { connection, engines, stream, logger }: RemoveDeps,
): Promise<void> {
  for (const [day, ofDay] of Map.groupBy(rows, (row) => row.day)) {
    for (const chunk of chunksOf(ofDay, REMOVED_TOGETHER_MAX)) {
      await connection.command(engines.everywhere(sql('events_remove')), {
        table: engines.rowsOf(stream),
        day,
        project_ids: chunk.map(({ project_id }) => project_id),
        event_ids: chunk.map(({ event_id }) => event_id),
        versions: chunk.map(({ version }) => version),
        days: [...new Set(chunk.map(({ winnerDay }) => winnerDay))],
      });
    }
    logger.info(
      { stream, day, rows: ofDay.length },
      'Removed rows of events that lost a conflict of services',
    );
  }
}
