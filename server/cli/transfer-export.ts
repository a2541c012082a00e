import { readdirSync, renameSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { sync, syncName } from '../durable-files.ts';
import { makeDirectory } from '../make-directory.ts';
import type { Config } from '../config.ts';
import { findBrokenParts } from '../store/broken-parts.ts';
import type { Connection } from '../store/connection.ts';
import { readMigrations, sql } from '../store/sql.ts';
import { CommandError } from './command-error.ts';
import { withFileFaults } from './file-faults.ts';
import { openStore, requireStore } from './open-store.ts';
import {
  EVENT_TABLES,
  FORMAT,
  isWhole,
  LOG_TABLE,
  type Manifest,
  type Part,
  readManifest,
  requireEmbedded,
  secondsSince,
  showProgress,
  SMALL_TABLES,
  reportBrokenParts,
  writeManifest,
} from './transfer.ts';

type Day = { day: string; rows: string; newest: string };
type Range = Omit<Day, 'day'> & { range: string };

/**
 * Exports the embedded store to a directory of compressed files, one per table and day, and one per 100,000 rounds of the log. Files of an
 * earlier run are kept if they are complete and their day or range has not changed. The service must be stopped, so that the files are
 * consistent with each other.
 */
export function exportStore(config: Config, to: string): Promise<unknown> {
  requireEmbedded(config, 'export');
  requireStore(config);
  const directory = resolve(to);
  // The engine would treat them as a pattern.
  if (/[*?{}]/.test(directory))
    throw new CommandError(`${directory} contains characters that an export path must not contain: * ? { }`);
  return withFileFaults({ directory, isWritten: true }, async () => {
    const done = readManifest(directory);
    makeDirectory(directory);
    if (done === undefined && readdirSync(directory).some((name) => !name.startsWith('.')))
      throw new CommandError(`${directory} is not empty and does not contain an export.`);
    const store = await openStore(config);
    try {
      reportBrokenParts(await findBrokenParts(store.background));
      const exported = await exportTables(store.background, directory, done);
      syncName(directory);
      return exported;
    } finally {
      await store.close();
    }
  });
}

async function exportTables(
  connection: Connection,
  directory: string,
  done: Manifest | undefined,
): Promise<unknown> {
  const manifest = await newManifest(connection);
  const parts = await partsOf(connection);
  const written =
    done?.schema_version === manifest.schema_version && done.format === FORMAT
      ? unchanged(parts, done, directory)
      : new Map<string, Part>();
  const missing = parts.filter(({ name }) => !written.has(name));
  const saveManifest = () => {
    const files = parts.flatMap(({ name }) => written.get(name) ?? []);
    writeManifest(directory, { ...manifest, complete: files.length === parts.length, files });
  };
  const startMs = performance.now();
  saveManifest();
  for (const [index, part] of missing.entries()) {
    const path = join(directory, part.name);
    // Uses a temporary name until it is complete. The extension makes the engine compress it.
    const params = { path: join(directory, `.part-${part.name}`), table: part.table };
    if (part.range !== undefined)
      await connection.command(sql('export_log'), { path: params.path, range: part.range });
    else if (part.day !== undefined)
      await connection.command(sql('export_day'), { ...params, day: part.day });
    else await connection.command(sql('export_table'), params);
    sync(params.path);
    renameSync(params.path, path);
    written.set(part.name, { ...part, bytes: statSync(path).size });
    saveManifest();
    showProgress(`${index + 1} of ${missing.length} files  ${part.name}`);
  }
  return { directory, files: parts.length, written_now: missing.length, seconds: secondsSince(startMs) };
}

/** The files of days and ranges that have not changed since they were exported, by name. Small tables are always exported again. */
function unchanged(parts: Part[], { files }: Manifest, directory: string): Map<string, Part> {
  const now = new Map(parts.map((part) => [part.name, part]));
  const same = files.filter((file) => {
    const part = now.get(file.name);
    const isSame = part?.newest !== undefined && part.rows === file.rows && part.newest === file.newest;
    return isSame && isWhole(directory, file);
  });
  return new Map(same.map((file) => [file.name, file]));
}

async function newManifest(connection: Connection): Promise<Omit<Manifest, 'complete' | 'files'>> {
  const tables: Manifest['tables'] = {};
  for (const table of [...SMALL_TABLES, ...EVENT_TABLES]) {
    const rows = await connection.query<{ name: string }>(sql('table_columns'), { table });
    tables[table] = rows.map(({ name }) => name);
  }
  const schema_version = Math.max(...readMigrations().map(({ version }) => version));
  return { format: FORMAT, schema_version, tables };
}

async function partsOf(connection: Connection): Promise<Part[]> {
  const parts: Part[] = [];
  for (const { range, rows, newest } of await connection.query<Range>(sql('export_log_ranges')))
    parts.push({
      name: `${LOG_TABLE}.${range}.jsonl.gz`,
      table: LOG_TABLE,
      range,
      rows: Number(rows),
      newest,
    });
  for (const table of SMALL_TABLES) parts.push({ name: `${table}.jsonl.gz`, table });
  for (const table of EVENT_TABLES) {
    const days = await connection.query<Day>(sql('export_days'), { table });
    for (const { day, rows, newest } of days)
      parts.push({ name: `${table}.${day}.jsonl.gz`, table, day, rows: Number(rows), newest });
  }
  return parts;
}
