import type { ClickHouseSettings } from '@clickhouse/client';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { syncName, syncTree } from '../durable-files.ts';
import { makeDirectory } from '../make-directory.ts';
import { closeToOthers } from '../private-files.ts';
import { INSERT_BYTES_MAX, READ_SECONDS_MAX, STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import { CallerCache } from './cached-callers.ts';
import { connectEmbedded, connectServer, type Connection } from './connection.ts';
import { type Engines, onCluster, ONE_NODE } from './engines.ts';
import { Handover } from './handover.ts';
import { lockDataDir, type Release } from './data-dir-lock.ts';
import { withTimeout } from './with-timeout.ts';
import { migrate, SchemaTooNewError, type Tell } from './migrate.ts';
import { createReadPool, type ReadPool } from './read-pool.ts';
import { sql } from './sql.ts';
import { StoreError, storeErrorFrom } from './store-error.ts';

/** Tried again after this long while the store is away. */
const RETRY_MS = 1000;
/**
 * How long a server may be silent before a statement counts as failed. For an insert: long enough not to send rows twice
 * to a slow store, short enough to replace a dead connection soon.
 */
const INSERT_SILENCE_MS_MAX = 10_000;
const BACKGROUND_SILENCE_MS_MAX = 60_000;
/** A running read reports its progress once a second, so a server that is silent for this long is away. */
const READ_SILENCE_MS_MAX = 4000;

/** The folder of the embedded engine in the data directory. */
export const EMBEDDED_FOLDER = 'clickhouse';

/** From there down to the directory of a table: store, a prefix, the table. */
const TABLE_LEVELS = 3;

/** The embedded store cannot be opened. */
export class StoreOpenError extends Error {}

/** The data directory belongs to another process. */
export class StoreInUseError extends StoreOpenError {
  constructor(dataDir: string) {
    super(`The data directory ${dataDir} is in use by another process.`);
    this.name = 'StoreInUseError';
  }
}

/**
 * The store of one process. Writes, look-ups and reads each have their own connection, so that none waits behind
 * another. `ready` resolves when the schema is in place, and may be asked again at every request.
 */
export type Store = {
  readonly kind: 'embedded' | 'server';
  readonly engines: Engines;
  readonly writer: Connection;
  readonly usageWriter: Connection;
  readonly lookups: Connection;
  /** For the rounds of the log. */
  readonly log: Connection;
  /** For long statements that no caller waits for. */
  readonly background: Connection;
  readonly accounts: Connection;
  readonly reads: ReadPool;
  /** Files that the last process left for this one. Only an embedded store has it. */
  readonly handover: Handover | undefined;
  ready: () => Promise<void>;
  isUp: () => Promise<boolean>;
  close: () => Promise<void>;
};

/** How long a close waits for an answer to the kill of what still runs. */
const KILL_MS_MAX = 1000;

// Answers are small. By default separate threads format them, which is a third of the processor time of a look-up.
const ANSWER_SETTINGS: ClickHouseSettings = { output_format_parallel_formatting: 0 };
// For inserts of small batches: no threads to start, no parallel parser.
const WRITE_SETTINGS: ClickHouseSettings = {
  ...ANSWER_SETTINGS,
  max_threads: 1,
  max_insert_threads: '1',
  input_format_parallel_parsing: 0,
  async_insert: 0,
  // Merges build the indexes; parts that are not merged are read without them.
  materialize_skip_indexes_on_insert: 0,
};
// Event rows have every column. Without this, defaults for missing columns took a twelfth of an insert.
const EVENT_SETTINGS: ClickHouseSettings = { ...WRITE_SETTINGS, input_format_defaults_for_omitted_fields: 0 };
const READ_SETTINGS: ClickHouseSettings = {
  ...ANSWER_SETTINGS,
  max_execution_time: READ_SECONDS_MAX,
  output_format_json_quote_64bit_integers: 0,
};
// In process, all statements share the CPUs: those that do not hold up a write get a lower priority.
const BEHIND_WRITES: ClickHouseSettings = { os_threads_nice_value_query: 10 };
// A look-up or a round of the log reads hundreds of small pieces. By default another thread at normal priority reads each of them,
// which takes longer.
const READS_IN_PLACE: ClickHouseSettings = { local_filesystem_read_method: 'pread' };

/**
 * Lets a server merge the inserts of all processes into one part. The wait is fixed: by default it is as short as 50 ms when inserts
 * are far apart, which is 20 parts a second. Twice the largest insert fits, since one that does not makes a part of its own. The server
 * does not look for repeated inserts: of a merged insert into a Distributed table the shards see one token, and would discard the rows
 * of others with it. On a cluster, one replica of each shard merges what all nodes send it; a node that is a replica itself would write
 * its share at once instead.
 */
function mergedInserts(mergeMs: number): ClickHouseSettings {
  return {
    async_insert: 1,
    wait_for_async_insert: 1,
    async_insert_busy_timeout_max_ms: mergeMs,
    async_insert_use_adaptive_busy_timeout: 0,
    async_insert_max_data_size: String(2 * INSERT_BYTES_MAX),
    deduplicate_insert: 'disable',
    prefer_localhost_replica: 0,
    load_balancing: 'in_order',
  };
}

type StoreOptions = {
  /** False leaves a database that does not exist, as the fault of every statement. */
  mayCreate?: boolean;
  /** `ready` waits for a server, too, as long as it takes to create or migrate the schema. */
  isPatient?: boolean;
  /** Takes the progress of a migration. */
  tell?: Tell;
};

export function createStore(
  { clickhouse, cluster, dataDir, asyncInsertMs }: Config,
  logger: Logger,
  { mayCreate = true, isPatient = false, tell = (line) => logger.info(line) }: StoreOptions = {},
): Store {
  const isCluster = clickhouse !== undefined && cluster !== undefined;
  const engines = isCluster ? onCluster({ cluster, database: clickhouse.database }) : ONE_NODE;
  const merged = asyncInsertMs > 0 ? mergedInserts(asyncInsertMs) : undefined;
  const callers = new CallerCache();
  const connectUnwatched = connector(clickhouse, { dataDir, engines, merged });
  const connect: Connect = (...options) => callers.watch(connectUnwatched(...options));
  const writer = connect(EVENT_SETTINGS, INSERT_SILENCE_MS_MAX);
  const usageWriter = connect(EVENT_SETTINGS, INSERT_SILENCE_MS_MAX);
  const readInPlace = clickhouse === undefined ? READS_IN_PLACE : {};
  const lookups = connect({ ...WRITE_SETTINGS, ...readInPlace }, STATEMENT_WAIT_MS_MAX);
  const uncached = connect(WRITE_SETTINGS, STATEMENT_WAIT_MS_MAX);
  const accounts = clickhouse === undefined ? callers.answer(uncached) : uncached;
  const standBack = clickhouse === undefined ? BEHIND_WRITES : {};
  const log = connect({ ...WRITE_SETTINGS, ...readInPlace, ...standBack }, BACKGROUND_SILENCE_MS_MAX);
  const background = connect({ ...WRITE_SETTINGS, ...standBack }, BACKGROUND_SILENCE_MS_MAX);
  const reads = createReadPool((settings) =>
    connect({ ...READ_SETTINGS, ...standBack, ...settings }, READ_SILENCE_MS_MAX),
  );
  const handover = clickhouse === undefined ? new Handover(dataDir) : undefined;
  let release: Release | undefined;
  const prepare = async () => {
    if (clickhouse !== undefined) {
      if (mayCreate) await createDatabase(clickhouse, engines);
    } else if (release === undefined) {
      release = await lockDataDir(dataDir);
      if (release === undefined) throw new StoreInUseError(dataDir);
      closeToOthers(dataDir, join(dataDir, EMBEDDED_FOLDER));
    }
    // Before anything is written, also by a command that does not use the files: from then on they may be behind the store.
    await handover?.open();
    const hasChanged = await migrate(background, engines, tell);
    // The engine syncs the files of its tables, but not the names of them.
    if (clickhouse === undefined && hasChanged) {
      const folder = join(dataDir, EMBEDDED_FOLDER);
      syncTree(folder, TABLE_LEVELS);
      syncName(folder);
    }
  };
  const ready = initializeWithRetry(prepare, {
    logger,
    // The start waits for an embedded store, however slowly it opens.
    waitMsMax: clickhouse === undefined || isPatient ? undefined : STATEMENT_WAIT_MS_MAX,
  });
  const askOne = () => ready().then(() => lookups.query('SELECT 1'));
  return {
    kind: clickhouse === undefined ? 'embedded' : 'server',
    engines,
    writer,
    usageWriter,
    lookups,
    log,
    background,
    accounts,
    reads,
    handover,
    ready,
    isUp: () =>
      withTimeout(askOne(), STATEMENT_WAIT_MS_MAX).then(
        () => true,
        () => false,
      ),
    close: async () => {
      // The lock is held, so the engine is open. Running statements may take long, and the process cannot exit before they end.
      if (release !== undefined)
        await withTimeout(accounts.query(sql('statements_kill')), KILL_MS_MAX).catch(() => undefined);
      const connections = new Set([writer, usageWriter, lookups, log, background, accounts]);
      await Promise.all([...Array.from(connections, (connection) => connection.close()), reads.close()]);
      await handover?.close();
      release?.();
    },
  };
}

type Connect = (settings: ClickHouseSettings, silenceMsMax: number) => Connection;

function connector(
  clickhouse: Config['clickhouse'],
  { dataDir, engines, merged }: { dataDir: string; engines: Engines; merged: ClickHouseSettings | undefined },
): Connect {
  if (clickhouse !== undefined) {
    return (settings, silenceMsMax) =>
      connectServer(clickhouse, {
        settings: { ...settings, ...engines.settings },
        silenceMsMax,
        mergedInserts: merged,
      });
  }
  const path = join(dataDir, EMBEDDED_FOLDER);
  makeDirectory(path);
  return (settings) => connectEmbedded(path, settings);
}

async function createDatabase(
  clickhouse: NonNullable<Config['clickhouse']>,
  engines: Engines,
): Promise<void> {
  const options = { settings: {}, silenceMsMax: BACKGROUND_SILENCE_MS_MAX };
  const connection = connectServer({ ...clickhouse, database: 'default' }, options);
  try {
    await connection.command(engines.everywhere(`CREATE DATABASE IF NOT EXISTS ${clickhouse.database}`));
  } finally {
    await connection.close();
  }
}

type RetryOptions = { logger: Logger; waitMsMax: number | undefined };

/**
 * Runs `prepare` until it succeeds once. Callers share a running attempt, wait at most waitMsMax, and get the last
 * failure for a second.
 */
function initializeWithRetry(
  prepare: () => Promise<void>,
  { logger, waitMsMax }: RetryOptions,
): () => Promise<void> {
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
        if (error instanceof SchemaTooNewError) logger.error(error.message);
        throw storeErrorFrom(error);
      },
    );
    state.catch(() => undefined);
    return state;
  };
  return () => {
    if (isDone) return Promise.resolve();
    const running = state ?? start();
    return waitMsMax === undefined ? running : withTimeout(running, waitMsMax);
  };
}

/** Waits for the running attempt so many times as long as a caller would. A store that refuses is not tried again. */
export async function waitForSchema({ ready }: Pick<Store, 'ready'>, waits: number): Promise<void> {
  for (let waited = 1; waited < waits; waited += 1) {
    const isReady = await ready().then(
      () => true,
      () => false,
    );
    if (isReady) return;
  }
  await ready();
}

/** The error that must stop the start of the service, because retrying would not help; else undefined. */
export function fatalStoreFault(error: unknown, dataDir: string): Error | undefined {
  const origin = error instanceof StoreError ? error.cause : error;
  if (origin instanceof SchemaTooNewError || origin instanceof StoreOpenError) return origin;
  const cause = String(origin);
  // The engine tells the reason only on standard error. Our own lock does not see a process in another container, or of another program.
  if (cause.includes('Failed to create connection')) {
    return new StoreOpenError(
      `The store in ${dataDir} cannot be opened: see the message of the engine above. If its disk is full, free some ` +
        'space. If another process uses it, stop that process. If it is damaged, restore a backup (docs/operations.md).',
    );
  }
  if (cause.includes('ERR_MODULE_NOT_FOUND') || cause.includes("Cannot find package 'chdb'")) {
    return new Error(
      'The embedded engine (npm package chdb) is not installed for this platform. ' +
        'Run npm ci without --omit=optional, or set GATE_CLICKHOUSE_URL to a ClickHouse server.',
    );
  }
  return undefined;
}
