import { RETENTION_MS } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { AuditReads } from './days.ts';
import type { DecisionRow } from './record.ts';

/** Almost always longer than the copy of an identity takes. */
const RECENT_MS = 10 * 60_000;

type Wanted = { projectId: string; eventId: string; nowMs: number; signal: AbortSignal };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The columns of decision_line.sql. */
export type DecisionLine = {
  event_id: string;
  received_at: string;
  line: string;
  salt: string;
  entry: string;
};
type Reads = Pick<AuditReads, 'runRead'>;

/** The living record of an id in any case; undefined when there is none, also for a text that is no UUID. */
export function findDecision(reads: Reads, wanted: Wanted): Promise<DecisionRow | undefined> {
  return find<DecisionRow>(reads, wanted, 'decision');
}

/** The same record as what the log knows of it. */
export function findDecisionLine(reads: Reads, wanted: Wanted): Promise<DecisionLine | undefined> {
  return find<DecisionLine>(reads, wanted, 'decision_line');
}

async function find<Row>(
  { runRead }: Reads,
  { projectId, eventId, nowMs, signal }: Wanted,
  statement: 'decision' | 'decision_line',
): Promise<Row | undefined> {
  const event_id = eventId.toLowerCase();
  if (!UUID.test(event_id)) return undefined;
  const identity = { project_id: projectId, event_id };
  const since = clickhouseTime(nowMs - RETENTION_MS);
  const readFrom = async (places: string[], recent: string | null) => {
    const params = { ...identity, since, places, recent };
    const [row] = await runRead<Row>(sql(statement), params, signal);
    return row;
  };
  const places = await runRead<{ occurred_at: string }>(sql('decision_places'), identity, signal);
  const known =
    places.length === 0
      ? undefined
      : await readFrom(
          places.map((row) => row.occurred_at),
          null,
        );
  // Identities are copied a moment after their rows, so a record may be younger than its place.
  const recent = clickhouseTime(nowMs - RECENT_MS).slice(0, -'.000'.length);
  return known ?? (await readFrom([], recent)) ?? (await readFrom([], null));
}
