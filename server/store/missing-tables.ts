import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Connection } from './connection.ts';
import { StoreOpenError } from './open-faults.ts';
import { readMigrations } from './sql.ts';

const DEFINITION = '.sql';

/**
 * Throws a StoreOpenError if the data of tables is gone, or all definitions. The engine would make empty tables in their place, without a
 * message, and a revoked key would work again. Must come before the engine opens the folder.
 */
export function requireTableFiles(folder: string): void {
  const definitions = join(folder, 'metadata', 'default');
  const files = existsSync(definitions) ? readdirSync(definitions) : [];
  const tables = files.filter((name) => name.endsWith(DEFINITION));
  const isDangling = files.length === 0 && lstatSync(definitions, { throwIfNoEntry: false }) !== undefined;
  if (
    isDangling ||
    (tables.length === 0 && globSync('store/*/*/*/checksums.txt', { cwd: folder }).length > 0)
  )
    throw missing(['the definitions of all tables']);
  const lost = tables.filter((name) => {
    const text = readFileSync(join(definitions, name), 'utf8');
    const [, id] = /^ATTACH TABLE _ UUID '([^']+)'/.exec(text) ?? [];
    const hasData = id !== undefined && /^ENGINE = \w*MergeTree/m.test(text);
    return hasData && !existsSync(join(folder, 'store', id.slice(0, 3), id));
  });
  if (lost.length > 0) throw missing(lost.map((name) => `the data of ${name.slice(0, -DEFINITION.length)}`));
}

/** Throws a StoreOpenError if the engine does not know a table of the schema, because its definition is gone. */
export async function requireTables(connection: Connection): Promise<void> {
  const rows = await connection.query<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  const known = new Set(rows.map(({ name }) => name));
  const statements = readMigrations().flatMap((migration) => migration.statements);
  const made = statements.flatMap((text) => /CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? []);
  const lost = made.filter((name) => !known.has(name));
  if (lost.length > 0) throw missing(lost.map((name) => `the definition of ${name}`));
}

function missing(files: string[]): StoreOpenError {
  return new StoreOpenError(
    `Files of the store are missing: ${files.join(', ')}. Put them back, or restore a backup. docs/operations.md says how, ` +
      'under "Damaged files".',
  );
}
