import { join, resolve } from 'node:path';
import { fillIdentities } from '../commit/fill-identities.ts';
import { FlushNumbers } from '../commit/flush-numbers.ts';
import { chunksOf, idsOf, keyOf, type Stream } from '../commit/identity.ts';
import type { Config } from '../config.ts';
import { RETENTION_MS } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { sha256Hex } from '../sha256.ts';
import { readMigrations, sql } from '../store/sql.ts';
import type { Store } from '../store/store.ts';
import { clickhouseTime } from '../store/time.ts';
import { CommandError } from './command-error.ts';
import { withFileFaults } from './file-faults.ts';
import { openStore } from './open-store.ts';
import {
  EVENT_TABLES,
  FORMAT,
  isWhole,
  linesOf,
  LOG_TABLE,
  type Manifest,
  readManifest,
  secondsSince,
  showProgress,
} from './transfer.ts';
import { LogTransfer } from './transfer-log.ts';

/** The sequencer uses the numbers of their inserts to find the imported rows and those that the log lacks. */
const numbers = new FlushNumbers();

/** Rows that are compared and written together. */
const BATCH_ROWS = 10_000;
const IDENTITY_COLUMNS = ['project_id', 'event_id', 'occurred_at', 'received_at'] as const;

type Identity = Record<(typeof IDENTITY_COLUMNS)[number], string>;
/** `line` is the row of an event as it was exported. */
type Event = Identity & { line: string };
type Counts = { imported: number; skipped: number; log_entries: number };

/**
 * Imports an export into the store that the environment names. Skips events whose identity exists and other rows that exist, so that an
 * import can be interrupted and repeated. The logs are extended first, so that their records do not enter again.
 */
export function importStore(config: Config, from: string): Promise<unknown> {
  const directory = resolve(from);
  return withFileFaults({ directory }, () => importFiles(config, directory));
}

async function importFiles(config: Config, directory: string): Promise<unknown> {
  const manifest = readManifest(directory);
  if (manifest === undefined)
    throw new CommandError(`${directory} does not contain an export: manifest.json is missing.`);
  requireSameSchema(manifest);
  requireWhole(directory, manifest);
  const store = await openStore(config, { mayCreate: true });
  try {
    const startMs = performance.now();
    // Imported records were received long ago. If a service relied on these files after an interrupted import, it would not look back that
    // far.
    await store.handover?.clear();
    // A killed service may have left records without identities; later identities are about to be written.
    for (const stream of EVENT_TABLES) await fillIdentities(store.background, { stream, nowMs: Date.now() });
    const total: Counts = { imported: 0, skipped: 0, log_entries: 0 };
    const log = await LogTransfer.open(store, { directory, manifest });
    for (const [index, file] of manifest.files.entries()) {
      const { name, table } = file;
      if (table === LOG_TABLE) {
        total.log_entries += await log.append(file);
        showProgress(`${index + 1} of ${manifest.files.length} files  ${name}`);
        continue;
      }
      const columns = manifest.tables[table] ?? [];
      const counts = await importFile(store, { path: join(directory, name), table, columns });
      total.imported += counts.imported;
      total.skipped += counts.skipped;
      const perSecond = Math.round((total.imported + total.skipped) / ((performance.now() - startMs) / 1000));
      showProgress(
        `${index + 1} of ${manifest.files.length} files  ${name}  ${total.imported} rows so far, ${perSecond} rows/s`,
      );
    }
    await log.finish();
    return { ...total, seconds: secondsSince(startMs) };
  } finally {
    await store.close();
  }
}

function requireSameSchema({ format, schema_version }: Manifest): void {
  const newest = Math.max(...readMigrations().map(({ version }) => version));
  if (format === FORMAT && schema_version === newest) return;
  throw new CommandError(
    `The export has format ${format} and schema version ${schema_version}, but this Gatehouse has ${FORMAT} and ${newest}. Export with the same version of Gatehouse.`,
  );
}

/** Runs before anything is imported. */
function requireWhole(directory: string, { complete, files }: Manifest): void {
  const missing = files.find((file) => !isWhole(directory, file));
  if (complete && missing === undefined) return;
  const fault = missing === undefined ? 'was interrupted' : `has no whole file ${missing.name}`;
  throw new CommandError(
    `The export in ${directory} ${fault}. Run "export" again with the same --to: it writes what is missing.`,
  );
}

type File = { path: string; table: string; columns: string[] };

async function importFile(
  store: Store,
  { path, table, columns }: File,
): Promise<Pick<Counts, 'imported' | 'skipped'>> {
  const counts = { imported: 0, skipped: 0 };
  const stream = EVENT_TABLES.find((name) => name === table);
  const stored = stream === undefined ? await rowsOf(store.background, table) : new Set<string>();
  for await (const lines of batchesOf(path)) {
    const events = stream && (await newEvents(store, stream, eventsFrom(lines, columns)));
    const fresh =
      events?.unwritten.map(({ line }) => line) ?? lines.filter((line) => !stored.has(normalized(line)));
    counts.imported += fresh.length;
    counts.skipped += lines.length - fresh.length;
    const flush = stream === 'decisions' ? `${numbers.next()}` : '0';
    if (fresh.length > 0) {
      const token = sha256Hex(fresh.join('\n'));
      const logged = stream === 'decisions' && { columns: [...columns, 'flush'], last: flush };
      await store.background.insert({ table, columns, lines: fresh, token, ...logged });
    }
    if (stream !== undefined && events !== undefined)
      await writeIdentities(store.background, events.unmarked, { stream, writer: flush });
  }
  return counts;
}

async function* batchesOf(path: string): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const line of linesOf(path)) {
    batch.push(line);
    if (batch.length < BATCH_ROWS) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Two engines may write the same values with different spacing. */
function normalized(line: string): string {
  return JSON.stringify(JSON.parse(line));
}

async function rowsOf(connection: Connection, table: string): Promise<Set<string>> {
  const bytes = await connection.queryBytes(sql('table_rows'), { table });
  return new Set(bytes.toString().split('\n').filter(Boolean).map(normalized));
}

function eventsFrom(lines: string[], columns: string[]): Event[] {
  return lines.map((line) => {
    const row = JSON.parse(line) as string[];
    const values = IDENTITY_COLUMNS.map((name) => [name, row[columns.indexOf(name)]]);
    return { ...(Object.fromEntries(values) as Identity), line };
  });
}

/** The unexpired events that have no identity, and those among them whose rows an interrupted import has not written. */
async function newEvents(
  { lookups }: Store,
  stream: Stream,
  events: Event[],
): Promise<{ unmarked: Event[]; unwritten: Event[] }> {
  const alive_since = clickhouseTime(Date.now() - RETENTION_MS);
  const alive = events.filter(({ occurred_at }) => occurred_at >= alive_since);
  const marked = new Set<string>();
  const written = new Set<string>();
  for (const chunk of chunksOf(alive)) {
    const times = chunk.map(({ occurred_at }) => occurred_at).sort();
    const days = { from: times.at(0) ?? '', to: times.at(-1) ?? '' };
    const [identities, rows] = await Promise.all([
      lookups.query<Identity>(sql('identities_known'), { stream, ...idsOf(chunk), alive_since }),
      lookups.query<Identity>(sql('events_written'), { table: stream, ...idsOf(chunk), ...days }),
    ]);
    for (const row of identities) marked.add(keyOf(row));
    for (const row of rows) written.add(keyOf(row));
  }
  const unmarked = alive.filter((event) => !marked.has(keyOf(event)));
  return { unmarked, unwritten: unmarked.filter((event) => !written.has(keyOf(event))) };
}

/** writer: the value that the sequencer would use, so that it finds one writer. */
async function writeIdentities(
  connection: Connection,
  events: Event[],
  { stream, writer }: { stream: Stream; writer: string },
): Promise<void> {
  if (events.length === 0) return;
  const lines = events.map((event) =>
    JSON.stringify([stream, ...IDENTITY_COLUMNS.map((name) => event[name]), writer]),
  );
  const columns = ['stream', ...IDENTITY_COLUMNS, 'writer'];
  await connection.insert({ table: 'event_identities', columns, lines, token: '' });
}
