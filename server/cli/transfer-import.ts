import { createReadStream, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { chunksOf, idsOf, keyOf, type Stream } from '../commit/identity.ts';
import type { Config } from '../config.ts';
import { RETENTION_MS } from '../limits.ts';
import { createLogger } from '../logger.ts';
import type { Connection } from '../store/connection.ts';
import { sha256Hex } from '../sha256.ts';
import { readMigrations, sql } from '../store/sql.ts';
import { createStore, type Store } from '../store/store.ts';
import { clickhouseTime } from '../store/time.ts';
import { EVENT_TABLES, type Manifest, readManifest, type Tell, TransferError } from './transfer.ts';

/** Rows that are looked up, compared and written together. */
const BATCH_ROWS = 10_000;
const IDENTITY_COLUMNS = ['stream', 'project_id', 'event_id', 'occurred_at', 'received_at'] as const;

type Event = { line: string; project_id: string; event_id: string; occurred_at: string; received_at: string };
type Counts = { imported: number; skipped: number };

/**
 * Reads an export into the store that the environment names. Every event whose identity is taken there already is left
 * out, and every other row that is there as it is: so it may be cut short and run again, any number of times.
 */
export async function importStore(
  config: Config,
  { from, tell }: { from: string; tell: Tell },
): Promise<unknown> {
  const directory = resolve(from);
  const manifest = readManifest(directory);
  if (manifest === undefined)
    throw new TransferError(`${directory} holds no export: it has no manifest.json.`);
  checkSchema(manifest);
  const store = createStore(config, createLogger('silent'));
  try {
    await store.ready();
    const startMs = performance.now();
    const total: Counts = { imported: 0, skipped: 0 };
    for (const [index, { name, table }] of manifest.files.entries()) {
      const path = join(directory, name);
      if (!existsSync(path)) throw new TransferError(`${path} is missing; run the export again.`);
      const columns = manifest.tables[table] ?? [];
      const counts = await importFile(store, { path, table, columns });
      total.imported += counts.imported;
      total.skipped += counts.skipped;
      const perSecond = Math.round((total.imported + total.skipped) / ((performance.now() - startMs) / 1000));
      tell(
        `${index + 1} of ${manifest.files.length} files  ${name}  ${total.imported} rows in, ${perSecond} rows/s`,
      );
    }
    return { ...total, seconds: Math.round((performance.now() - startMs) / 100) / 10 };
  } finally {
    await store.close();
  }
}

function checkSchema({ format, schema_version }: Manifest): void {
  const newest = Math.max(...readMigrations().map(({ version }) => version));
  if (format === 1 && schema_version === newest) return;
  throw new TransferError(
    `The export has schema version ${schema_version}, this Gatehouse ${newest}: export with the version that imports.`,
  );
}

type File = { path: string; table: string; columns: string[] };

async function importFile(store: Store, { path, table, columns }: File): Promise<Counts> {
  const counts: Counts = { imported: 0, skipped: 0 };
  const stream = EVENT_TABLES.find((name) => name === table);
  const here = stream === undefined ? await rowsOf(store.background, table) : new Set<string>();
  for await (const lines of batchesOf(path)) {
    const fresh =
      stream === undefined
        ? lines.filter((line) => !here.has(normalized(line)))
        : await freshEvents(store, { stream, columns, lines });
    const token = sha256Hex(fresh.join('\n'));
    if (fresh.length > 0) await store.background.insert({ table, columns, lines: fresh, token });
    if (stream !== undefined)
      await markIdentities(store.background, { stream, events: eventsOf(fresh, columns) });
    counts.imported += fresh.length;
    counts.skipped += lines.length - fresh.length;
  }
  return counts;
}

async function* batchesOf(path: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
    if (line === '') continue;
    batch.push(line);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Two engines may put other spaces between the same values. */
function normalized(line: string): string {
  return JSON.stringify(JSON.parse(line));
}

async function rowsOf(connection: Connection, table: string): Promise<Set<string>> {
  const bytes = await connection.queryBytes(sql('table_rows'), { table });
  return new Set(bytes.toString().split('\n').filter(Boolean).map(normalized));
}

function eventsOf(lines: string[], columns: string[]): Event[] {
  const [project, event, occurred, received] = ['project_id', 'event_id', 'occurred_at', 'received_at'].map(
    (name) => columns.indexOf(name),
  );
  return lines.map((line) => {
    const row = JSON.parse(line) as unknown[];
    const text = (at: number | undefined) => String(row[at ?? -1]);
    return {
      line,
      project_id: text(project),
      event_id: text(event),
      occurred_at: text(occurred),
      received_at: text(received),
    };
  });
}

/** The lines of living events that the store does not have: neither their identity nor, from a run cut short, their row. */
async function freshEvents(
  { lookups }: Store,
  { stream, columns, lines }: { stream: Stream; columns: string[]; lines: string[] },
): Promise<string[]> {
  const alive_since = clickhouseTime(Date.now() - RETENTION_MS);
  const events = eventsOf(lines, columns).filter(({ occurred_at }) => occurred_at >= alive_since);
  const known = new Set<string>();
  for (const chunk of chunksOf(events)) {
    const times = chunk.map(({ occurred_at }) => occurred_at);
    const from = times.reduce((a, b) => (a < b ? a : b));
    const to = times.reduce((a, b) => (a > b ? a : b));
    const rows = await Promise.all([
      lookups.query<Event>(sql('identities_known'), { stream, ...idsOf(chunk), alive_since }),
      lookups.query<Event>(sql('events_written'), { table: stream, ...idsOf(chunk), from, to }),
    ]);
    for (const row of rows.flat()) known.add(keyOf(row));
  }
  return events.filter((event) => !known.has(keyOf(event))).map(({ line }) => line);
}

async function markIdentities(
  connection: Connection,
  { stream, events }: { stream: Stream; events: Event[] },
): Promise<void> {
  if (events.length === 0) return;
  const lines = events.map(({ project_id, event_id, occurred_at, received_at }) =>
    JSON.stringify([stream, project_id, event_id, occurred_at, received_at]),
  );
  await connection.insert({ table: 'event_identities', columns: IDENTITY_COLUMNS, lines, token: '' });
}
