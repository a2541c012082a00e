import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { readMigrations, type Migration } from './sql.ts';

/** The store was made by a newer Gatehouse; this one must not touch it. */
export class SchemaTooNewError extends Error {
  constructor(found: number, known: number) {
    super(
      `The store has schema version ${found}, but this Gatehouse knows only up to ${known}. ` +
        'Start the newer Gatehouse that made it, or restore a backup of the older schema.',
    );
    this.name = 'SchemaTooNewError';
  }
}

const LOCK_AGE_SECONDS_MAX = 60;
const LOCK_WAIT_MS = 200;

/** The engines of all tables come from here: one node, for which the text in the file is the engine itself. */
export function renderStatement(statement: string): string {
  return statement.replace(/\{engine: ([^}]+)\}/g, '$1');
}

/** Brings the store to the newest schema, each migration once, under a lock that other processes see. */
export async function migrate(connection: Connection): Promise<void> {
  await connection.command(
    renderStatement(`CREATE TABLE IF NOT EXISTS schema_migrations
      (version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
      ENGINE = {engine: ReplacingMergeTree} ORDER BY version SETTINGS fsync_after_insert = 1`),
  );
  if ((await pendingMigrations(connection)).length === 0) return;
  await lock(connection);
  try {
    // Read again: another process may have done the work while this one waited for the lock.
    for (const migration of await pendingMigrations(connection)) await apply(connection, migration);
  } finally {
    await connection.command('DROP TABLE IF EXISTS migration_lock SYNC');
  }
}

async function pendingMigrations(connection: Connection): Promise<Migration[]> {
  const known = readMigrations();
  const newest = Math.max(...known.map(({ version }) => version));
  const rows = await connection.query<{ version: number }>('SELECT DISTINCT version FROM schema_migrations');
  const applied = new Set(rows.map(({ version }) => version));
  const tooNew = Math.max(0, ...[...applied].filter((version) => version > newest));
  if (tooNew > 0) throw new SchemaTooNewError(tooNew, newest);
  return known.filter(({ version }) => !applied.has(version));
}

/** Every statement may be run twice (IF NOT EXISTS), so a migration that was cut short is simply run again. */
async function apply(connection: Connection, { version, name, statements }: Migration): Promise<void> {
  for (const statement of statements) await connection.command(renderStatement(statement));
  await connection.command(
    'INSERT INTO schema_migrations (version, name) VALUES ({version: UInt32}, {name: String})',
    {
      version,
      name,
    },
  );
}

/** CREATE TABLE without IF NOT EXISTS succeeds for one process only. A lock whose owner died is broken after a minute. */
async function lock(connection: Connection): Promise<void> {
  for (;;) {
    try {
      return await connection.command('CREATE TABLE migration_lock (x UInt8) ENGINE = Memory');
    } catch (error) {
      const rows = await connection.query<{ age: string }>(
        `SELECT toString(dateDiff('second', metadata_modification_time, now())) AS age
         FROM system.tables WHERE database = currentDatabase() AND name = 'migration_lock'`,
      );
      const age = rows[0]?.age;
      if (age !== undefined && Number(age) > LOCK_AGE_SECONDS_MAX) {
        await connection.command('DROP TABLE IF EXISTS migration_lock SYNC');
      } else if (age === undefined && !isTaken(error)) throw error;
      await sleep(LOCK_WAIT_MS);
    }
  }
}

function isTaken(error: unknown): boolean {
  return String((error as Error).cause).includes('TABLE_ALREADY_EXISTS');
}
