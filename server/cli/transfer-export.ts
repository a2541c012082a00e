import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../make-directory.ts';
import type { Config } from '../config.ts';
import { createLogger } from '../logger.ts';
import type { Connection } from '../store/connection.ts';
import { readMigrations, sql } from '../store/sql.ts';
import { createStore, fatalStoreFault } from '../store/store.ts';
import {
  EVENT_TABLES,
  type Manifest,
  readManifest,
  SMALL_TABLES,
  type Tell,
  TransferError,
  writeManifest,
} from './transfer.ts';

type Part = Manifest['files'][number];
type Day = { day: string; rows: string; newest: string };

/**
 * Writes an embedded store into a directory of compressed files, one a table and day. A day that is there already from an
 * earlier run, and has not changed since, stays. The service must be stopped: what it wrote meanwhile would be in one file
 * and not in another.
 */
export async function exportStore(
  config: Config,
  { to, tell }: { to: string; tell: Tell },
): Promise<unknown> {
  if (config.clickhouse !== undefined) {
    throw new TransferError(
      'export reads the embedded store: unset GATE_CLICKHOUSE_URL. A server has BACKUP.',
    );
  }
  const directory = resolve(to);
  const done = readManifest(directory);
  if (
    done === undefined &&
    existsSync(directory) &&
    readdirSync(directory).some((name) => !name.startsWith('.'))
  ) {
    throw new TransferError(`${directory} is not empty, and what is in it is no export.`);
  }
  makeDirectory(directory);
  const store = createStore(config, createLogger('silent'));
  try {
    await store.ready().catch((error: unknown) => {
      throw fatalStoreFault(error, config.dataDir) ?? error;
    });
    return await exportTables(store.background, { directory, done, tell });
  } finally {
    await store.close();
  }
}

type Target = { directory: string; done: Manifest | undefined; tell: Tell };

async function exportTables(connection: Connection, { directory, done, tell }: Target): Promise<unknown> {
  const manifest = await newManifest(connection);
  const parts = await partsOf(connection);
  const written = new Set(
    done?.schema_version === manifest.schema_version ? unchanged(parts, done).map(({ name }) => name) : [],
  );
  const missing = parts.filter(({ name }) => !written.has(name));
  const noteWritten = () =>
    writeManifest(directory, { ...manifest, files: parts.filter(({ name }) => written.has(name)) });
  const startMs = performance.now();
  noteWritten();
  for (const [index, part] of missing.entries()) {
    const path = join(directory, part.name);
    // Under another name until it is whole; the ending says that it is to be compressed.
    const params = { path: join(directory, `.part-${part.name}`), table: part.table };
    if (part.day === undefined) await connection.command(sql('export_table'), params);
    else await connection.command(sql('export_day'), { ...params, day: part.day });
    renameSync(params.path, path);
    written.add(part.name);
    noteWritten();
    tell(`${index + 1} of ${missing.length} files  ${part.name}`);
  }
  const seconds = Math.round((performance.now() - startMs) / 100) / 10;
  return { directory, files: parts.length, written_now: missing.length, seconds };
}

/** The days that hold what they held when they were written. The small tables are written every time. */
function unchanged(parts: Part[], { files }: Manifest): Part[] {
  const before = new Map(files.map((file) => [file.name, file]));
  return parts.filter(({ name, day, rows, newest }) => {
    const file = before.get(name);
    return day !== undefined && file?.rows === rows && file?.newest === newest;
  });
}

async function newManifest(connection: Connection): Promise<Manifest> {
  const tables: Manifest['tables'] = {};
  for (const table of [...SMALL_TABLES, ...EVENT_TABLES]) {
    const rows = await connection.query<{ name: string }>(sql('table_columns'), { table });
    tables[table] = rows.map(({ name }) => name);
  }
  const schema_version = Math.max(...readMigrations().map(({ version }) => version));
  return { format: 1, schema_version, tables, files: [] };
}

async function partsOf(connection: Connection): Promise<Part[]> {
  const parts: Part[] = SMALL_TABLES.map((table) => ({ name: `${table}.jsonl.gz`, table }));
  for (const table of EVENT_TABLES) {
    const days = await connection.query<Day>(sql('export_days'), { table });
    for (const { day, rows, newest } of days)
      parts.push({ name: `${table}.${day}.jsonl.gz`, table, day, rows: Number(rows), newest });
  }
  return parts;
}
