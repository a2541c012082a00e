import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { type Engines, ONE_NODE } from './engines.ts';
import { readMigrations, type Migration } from './sql.ts';
import { clickhouseCode } from './store-error.ts';

/** Takes a line of progress. */
export type ShowProgress = (line: string) => void;

/** A newer Gatehouse made the store. This one must not touch it. */
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
/** ClickHouse's error code. */
const TABLE_ALREADY_EXISTS = 57;

const CREATE_MIGRATIONS = `CREATE TABLE IF NOT EXISTS schema_migrations
(version UInt32, name String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3))
ENGINE = {engine: ReplacingMergeTree} ORDER BY version SETTINGS fsync_after_insert = 1`;
const CREATE_LOCK = 'CREATE TABLE migration_lock (x UInt8) ENGINE = Memory';
const DROP_LOCK = 'DROP TABLE IF EXISTS migration_lock SYNC';

type MigrateOptions = {
  engines?: Engines;
  /** Other processes use this store. A lock in any other store was left by a process that was killed. */
  isShared?: boolean;
  /** Throws if the disk lacks the space for migrations. */
  requireSpace?: () => void;
  showProgress?: ShowProgress;
};

const nothing = () => undefined;

/**
 * Brings the store to the newest schema, each migration once, in a shared store under a lock that other processes see. Resolves with
 * whether the schema was older.
 */
export async function migrate(
  connection: Connection,
  {
    engines = ONE_NODE,
    isShared = false,
    requireSpace = nothing,
    showProgress = nothing,
  }: MigrateOptions = {},
): Promise<boolean> {
  for (const statement of engines.render(CREATE_MIGRATIONS)) await connection.command(statement);
  if ((await readSchema(connection)).pending.length === 0) return false;
  requireSpace();
  if (isShared) await lock(connection, engines, showProgress);
  try {
    // Read again: another process may have migrated while this one waited for the lock.
    const { version, pending } = await readSchema(connection);
    const newest = pending.at(-1)?.version;
    if (version > 0 && newest !== undefined)
      showProgress(`Migrating the schema from version ${version} to ${newest}`);
    for (const migration of pending) await apply(migration, { connection, engines });
    return true;
  } finally {
    await connection.command(engines.everywhere(DROP_LOCK));
  }
}

/** The newest version of the store, 0 for none, and the migrations that it lacks. */
async function readSchema(connection: Connection): Promise<{ version: number; pending: Migration[] }> {
  const known = readMigrations();
  const newest = Math.max(...known.map(({ version }) => version));
  const rows = await connection.query<{ version: number }>('SELECT DISTINCT version FROM schema_migrations');
  const applied = new Set(rows.map(({ version }) => version));
  const version = Math.max(0, ...applied);
  if (version > newest) throw new SchemaTooNewError(version, newest);
  return { version, pending: known.filter((one) => !applied.has(one.version)) };
}

/** Every statement may run twice (IF NOT EXISTS), so an interrupted migration is run again. */
async function apply(
  { version, name, statements }: Migration,
  { connection, engines }: { connection: Connection; engines: Engines },
): Promise<void> {
  for (const statement of statements.flatMap(engines.render)) await connection.command(statement);
  await connection.command(
    'INSERT INTO schema_migrations (version, name) VALUES ({version: UInt32}, {name: String})',
    { version, name },
  );
}

/**
 * CREATE TABLE without IF NOT EXISTS succeeds for one process only. The lock is broken after a minute without a migration: its owner has
 * died.
 */
async function lock(connection: Connection, engines: Engines, showProgress: ShowProgress): Promise<void> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await connection.command(engines.everywhere(CREATE_LOCK));
    } catch (error) {
      const rows = await connection.query<{ age: string }>(
        `SELECT toString(dateDiff('second', greatest(metadata_modification_time, applied), now())) AS age
         FROM system.tables,
           (SELECT max(toDateTime(applied_at)) AS applied FROM schema_migrations WHERE applied_at <= now64()) AS newest
         WHERE database = currentDatabase() AND name = 'migration_lock'`,
      );
      const age = rows[0]?.age;
      if (age !== undefined && Number(age) > LOCK_AGE_SECONDS_MAX) {
        await connection.command(engines.everywhere(DROP_LOCK));
        continue;
      }
      if (age === undefined && !isTaken(error)) throw error;
      if (isFirst)
        showProgress(
          `Another process is migrating the schema. If it was killed, this one continues after ${LOCK_AGE_SECONDS_MAX} seconds`,
        );
      await sleep(LOCK_WAIT_MS);
    }
  }
}

function isTaken(error: unknown): boolean {
  return clickhouseCode((error as Error).cause) === TABLE_ALREADY_EXISTS;
}
