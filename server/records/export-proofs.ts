import { chunksOf } from '../commit/identity.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import type { ReadScope } from './counts.ts';
import type { AuditReads } from './days.ts';
import { exportBytes } from './export-decisions.ts';
import { MINUTE_MS } from '../durations.ts';

/** The parts of a line of decisions_export.sql in the format proofs, in bytes. */
const LAYOUT = { eventId: 36, salt: 16, entry: 32, receivedMs: 13 };
const LINE_BYTES = Object.values(LAYOUT).reduce((sum, bytes) => sum + bytes);

/** salt in base64, entry in upper-case hex. */
type Place = { eventId: string; salt: string; entry: string; receivedMs: number };

/** For each record of the export, in its order: its index in the log and its salt, as NDJSON. */
export async function* exportProofs(reads: AuditReads, scope: ReadScope): AsyncGenerator<Buffer> {
  for await (const page of exportBytes(reads, scope, 'proofs')) {
    const places = placesOf(page);
    const indexes = new Map<string, number>();
    for (const chunk of chunksOf(places))
      for (const [entry, index] of await readIndexes(reads, scope, chunk)) indexes.set(entry, index);
    const lines = places.map(({ eventId, salt, entry }) => {
      const index = indexes.get(entry) ?? null;
      return `${JSON.stringify({ event_id: eventId, index, salt })}\n`;
    });
    yield Buffer.from(lines.join(''));
  }
}

function placesOf(page: Buffer): Place[] {
  return Array.from({ length: page.length / LINE_BYTES }, (_, line) => {
    let end = line * LINE_BYTES;
    const [eventId = '', salt = '', entry = '', receivedMs = ''] = Object.values(LAYOUT).map((bytes) =>
      page.toString('latin1', end, (end += bytes)),
    );
    return {
      eventId,
      salt: Buffer.from(salt, 'latin1').toString('base64'),
      entry: Buffer.from(entry, 'latin1').toString('hex').toUpperCase(),
      receivedMs: Number(receivedMs),
    };
  });
}

/** The indexes by entry, in hex. Records that have not entered the log yet have none. */
async function readIndexes(
  { runRead }: AuditReads,
  { projectId, signal }: ReadScope,
  places: Place[],
): Promise<Map<string, number>> {
  const minutes = new Set(places.map(({ receivedMs }) => Math.floor(receivedMs / MINUTE_MS)));
  const times = Array.from(minutes, (minute) => clickhouseTime(minute * MINUTE_MS)).toSorted();
  const params = {
    project_id: projectId,
    entries: places.map(({ entry }) => entry).join(''),
    minutes: times,
    received_from: times[0] as string,
    received_to: clickhouseTime((Math.max(...minutes) + 1) * MINUTE_MS),
  };
  const rows = await runRead<{ entry: string; index: number }>(sql('log_indexes'), params, signal);
  return new Map(rows.map(({ entry, index }) => [entry, index]));
}
