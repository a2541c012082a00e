import type { ClickHouseSettings } from '@clickhouse/client';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { RequestError } from '../errors.ts';
import { READ_SECONDS_MAX, READS_RUNNING_MAX, READS_WAITING_MAX } from '../limits.ts';
import { connectEmbedded, connectServer, type Connection } from './connection.ts';
import { migrate, SchemaTooNewError } from './migrate.ts';
import { ReadPool } from './read-pool.ts';

/** Tried again after this long while the store is away. */
const RETRY_MS = 1000;

/** The data directory belongs to another process. */
export class StoreInUseError extends Error {
  constructor(dataDir: string) {
    super(
      `The data directory ${dataDir} is in use by another process. ` +
        'Stop that process, or give this one another directory with GATE_DATA_DIR.',
    );
    this.name = 'StoreInUseError';
  }
}

/**
 * The store of one process. Writes, look-ups and reads each have their own connection, so that none waits behind
 * another. `ready` resolves when the schema is in place, and may be asked again at every request.
 */
export type Store = {
  readonly kind: 'embedded' | 'server';
  readonly writer: Connection;
  readonly usageWriter: Connection;
  readonly lookups: Connection;
  readonly reads: ReadPool;
  ready: () => Promise<void>;
  isUp: () => Promise<boolean>;
  close: () => Promise<void>;
};

// What an insert of a small batch needs: no threads to start, no parallel parser.
const WRITE_SETTINGS: ClickHouseSettings = {
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  async_insert: 0,
};
const READ_SETTINGS: ClickHouseSettings = {
  max_execution_time: READ_SECONDS_MAX,
  output_format_json_quote_64bit_integers: 0,
};

export function createStore({ clickhouse, dataDir }: Config, logger: Logger): Store {
  const connect = connector(clickhouse, dataDir);
  const writer = connect(WRITE_SETTINGS);
  const usageWriter = connect(WRITE_SETTINGS);
  const lookups = connect(WRITE_SETTINGS);
  const reads = new ReadPool(
    Array.from({ length: READS_RUNNING_MAX }, () => connect(READ_SETTINGS)),
    { waitingMax: READS_WAITING_MAX },
  );
  const prepare = async () => {
    if (clickhouse !== undefined) await createDatabase(clickhouse);
    await migrate(lookups);
  };
  return {
    kind: clickhouse === undefined ? 'embedded' : 'server',
    writer,
    usageWriter,
    lookups,
    reads,
    ready: onceItWorks(prepare, logger),
    isUp: () =>
      lookups.query('SELECT 1').then(
        () => true,
        () => false,
      ),
    close: async () => {
      await Promise.all([writer.close(), usageWriter.close(), lookups.close(), reads.close()]);
    },
  };
}

type Connect = (settings: ClickHouseSettings) => Connection;

function connector(clickhouse: Config['clickhouse'], dataDir: string): Connect {
  if (clickhouse !== undefined) return (settings) => connectServer(clickhouse, settings);
  const path = join(dataDir, 'clickhouse');
  mkdirSync(path, { recursive: true });
  return (settings) => connectEmbedded(path, settings);
}

async function createDatabase(clickhouse: NonNullable<Config['clickhouse']>): Promise<void> {
  const connection = connectServer({ ...clickhouse, database: 'default' }, {});
  try {
    await connection.command(`CREATE DATABASE IF NOT EXISTS ${clickhouse.database}`);
  } finally {
    await connection.close();
  }
}

/** Runs `prepare` until it has worked once; callers in between share one try, and a failure is remembered for a second. */
function onceItWorks(prepare: () => Promise<void>, logger: Logger): () => Promise<void> {
  let state: Promise<void> | undefined;
  let isDone = false;
  const start = () => {
    state = prepare().then(
      () => {
        isDone = true;
        logger.info('The store is ready');
      },
      (error: unknown) => {
        setTimeout(() => (state = undefined), RETRY_MS).unref();
        throw error;
      },
    );
    state.catch(() => undefined);
    return state;
  };
  return () => (isDone ? Promise.resolve() : (state ?? start()));
}

/** The fault that must stop the start of the service, if this is one: retrying would not help. */
export function fatalStoreFault(error: unknown, dataDir: string): Error | undefined {
  if (error instanceof SchemaTooNewError) return error;
  const cause = error instanceof RequestError ? String(error.cause) : String(error);
  if (cause.includes('Cannot lock file')) return new StoreInUseError(dataDir);
  if (cause.includes('ERR_MODULE_NOT_FOUND') || cause.includes("Cannot find package 'chdb'")) {
    return new Error(
      'The embedded engine (npm package chdb) is not installed for this platform. ' +
        'Run npm ci without --omit=optional, or set GATE_CLICKHOUSE_URL to a ClickHouse server.',
    );
  }
  return undefined;
}
