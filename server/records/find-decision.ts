import { entryOf } from '../../client/proof/index.ts';
import { UUID_TEXT } from '../ingest/event.ts';
import { RETENTION_MS } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseSeconds, clickhouseTime } from '../store/time.ts';
import type { AuditReads } from './days.ts';
import type { DecisionRow } from './record.ts';

/** Almost always longer than copying an identity takes. */
const RECENT_MS = 10 * 60_000;

type Wanted = { projectId: string; eventId: string; nowMs: number; signal: AbortSignal };

/** The columns of decision_line.sql. */
type DecisionLineRow = { received_at: string; line: string; salt: string };
/** The data of a record that the log is built from. received_at: as the store prints it. */
type DecisionLine = { received_at: string; line: string; salt: Uint8Array; entry: Uint8Array };
type Reads = Pick<AuditReads, 'runRead'>;

/** When a record occurred and was received, as the store prints it. */
export type Place = { occurred_at: string; received_at: string };

/** The living record of an id in any case; undefined if there is none, and for a text that is not a UUID. */
export async function findDecision(reads: Reads, wanted: Wanted): Promise<DecisionRow | undefined> {
  return find<DecisionRow>(reads, { ...wanted, places: await placesOf(reads, wanted) }, 'decision');
}

/** The same record, as a DecisionLine. `places`: the result of placesOf, if the caller has it. */
export async function findDecisionLine(
  reads: Reads,
  { places, ...wanted }: Wanted & { places?: readonly Place[] },
): Promise<DecisionLine | undefined> {
  const asked = { ...wanted, places: places ?? (await placesOf(reads, wanted)) };
  const row = await find<DecisionLineRow>(reads, asked, 'decision_line');
  if (row === undefined) return undefined;
  const salt = Buffer.from(row.salt.replaceAll('-', ''), 'hex');
  return { received_at: row.received_at, line: row.line, salt, entry: entryOf(salt, row.line) };
}

/** Where the record with an id may be. None: it is unknown, or recent. */
export async function placesOf({ runRead }: Reads, { projectId, eventId, signal }: Wanted): Promise<Place[]> {
  const event_id = eventId.toLowerCase();
  if (!UUID_TEXT.test(event_id)) return [];
  return runRead<Place>(sql('decision_places'), { project_id: projectId, event_id }, signal);
}

async function find<Row>(
  { runRead }: Reads,
  { projectId, eventId, nowMs, signal, places }: Wanted & { places: readonly Place[] },
  statement: 'decision' | 'decision_line',
): Promise<Row | undefined> {
  const event_id = eventId.toLowerCase();
  if (!UUID_TEXT.test(event_id)) return undefined;
  const since = clickhouseTime(nowMs - RETENTION_MS);
  const readFrom = async (times: string[], recent: string | null) => {
    const params = { project_id: projectId, event_id, since, places: times, recent };
    const [row] = await runRead<Row>(sql(statement), params, signal);
    return row;
  };
  const times = places.map(({ occurred_at }) => occurred_at);
  const known = times.length === 0 ? undefined : await readFrom(times, null);
  // Identities are copied a moment after their rows, so a record may be more recent than its place.
  const recent = clickhouseSeconds(nowMs - RECENT_MS);
  return known ?? (await readFrom([], recent)) ?? (await readFrom([], null));
}
