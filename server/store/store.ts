import type { ClickHouseSettings } from '@clickhouse/client';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { makeDirectory } from '../make-directory.ts';
import { closeToOthers } from '../private-files.ts';
import { STATEMENT_WAIT_MS_MAX } from '../limits.ts';
import { CallerCache } from './cached-callers.ts';
import { connectEmbedded, connectServer, type Connection } from './connection.ts';
import { EMBEDDED_FOLDER } from './embedded-folder.ts';
import { type Engines, onCluster, ONE_NODE } from './engines.ts';
import { Handover } from './handover.ts';
import { lockDataDir, type Release } from './data-dir-lock.ts';
import { initializeWithRetry } from './initialize-with-retry.ts';
import { migrate, type ShowProgress } from './migrate.ts';
import { StoreInUseError } from './open-faults.ts';
import { createReadPool, type ReadPool } from './read-pool.ts';
import {
  LOW_PRIORITY,
  EVENT_SETTINGS,
  mergedInserts,
  READ_SETTINGS,
  READS_IN_PLACE,
  WRITE_SETTINGS,
} from './settings.ts';
import { sql } from './sql.ts';
import { keepTables, requireSpace, requireTables } from './table-files.ts';
import { withTimeout } from './with-timeout.ts';

/**
 * How long a server may be silent before a statement counts as failed. For an insert: long enough not to send rows twice
 * to a slow store, short enough to replace a dead connection soon.
 */
const INSERT_SILENCE_MS_MAX = 10_000;
const BACKGROUND_SILENCE_MS_MAX = 60_000;
/** A running read reports its progress once a second, so a server that is silent for this long is unavailable. */
const READ_SILENCE_MS_MAX = 4000;

/**
 * The store of one process. Writes, lookups and reads each have their own connection, so that none waits for another. `ready` resolves when
 * the schema is in place, and may be called on every request.
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

/** How long a close waits for an answer after it kills the running statements. */
const KILL_MS_MAX = 1000;

type StoreOptions = {
  /** If false, a missing database is not created, and every statement fails because of it. */
  mayCreate?: boolean;
  /** `ready` also waits for a server for as long as creating or migrating the schema takes. */
  waitsForMigration?: boolean;
  /** Takes the progress of a migration. */
  showProgress?: ShowProgress;
};

export function createStore(
  { clickhouse, cluster, dataDir, asyncInsertMs }: Config,
  logger: Logger,
  {
    mayCreate = true,
    waitsForMigration = false,
    showProgress = (line) => logger.info(line),
  }: StoreOptions = {},
): Store {
  const isEmbedded = clickhouse === undefined;
  const isCluster = !isEmbedded && cluster !== undefined;
  const folder = join(dataDir, EMBEDDED_FOLDER);
  const engines = isCluster ? onCluster({ cluster, database: clickhouse.database }) : ONE_NODE;
  const merged = asyncInsertMs > 0 ? mergedInserts(asyncInsertMs) : undefined;
  const callers = new CallerCache();
  const connectUnwatched = connector(clickhouse, { folder, engines, merged });
  const connect: Connect = (...options) => callers.watch(connectUnwatched(...options));
  const writer = connect(EVENT_SETTINGS, INSERT_SILENCE_MS_MAX);
  const usageWriter = connect(EVENT_SETTINGS, INSERT_SILENCE_MS_MAX);
  const readInPlace = isEmbedded ? READS_IN_PLACE : {};
  const lookups = connect({ ...WRITE_SETTINGS, ...readInPlace }, STATEMENT_WAIT_MS_MAX);
  const uncached = connect(WRITE_SETTINGS, STATEMENT_WAIT_MS_MAX);
  const accounts = isEmbedded ? callers.answer(uncached) : uncached;
  const lowPriority = isEmbedded ? LOW_PRIORITY : {};
  const log = connect({ ...WRITE_SETTINGS, ...readInPlace, ...lowPriority }, BACKGROUND_SILENCE_MS_MAX);
  const background = connect({ ...WRITE_SETTINGS, ...lowPriority }, BACKGROUND_SILENCE_MS_MAX);
  const reads = createReadPool((settings) =>
    connect({ ...READ_SETTINGS, ...lowPriority, ...settings }, READ_SILENCE_MS_MAX),
  );
  const handover = isEmbedded ? new Handover(dataDir) : undefined;
  let release: Release | undefined;
  const prepare = async () => {
    if (!isEmbedded) {
      if (mayCreate) await createDatabase(clickhouse, engines);
    } else if (release === undefined) {
      release = await lockDataDir(dataDir);
      if (release === undefined) throw new StoreInUseError(dataDir);
      closeToOthers(dataDir, folder);
      requireTables(folder);
    }
    // Before anything is written, even by a command that does not use the files: from then on they may be behind the store.
    await handover?.open();
    const hasChanged = await migrate(background, {
      engines,
      isShared: !isEmbedded,
      requireSpace: () => isEmbedded && requireSpace(folder),
      showProgress,
    });
    if (isEmbedded) keepTables(folder, hasChanged);
  };
  const ready = initializeWithRetry(prepare, {
    logger,
    // The start waits for an embedded store, however slowly it opens.
    waitMsMax: isEmbedded || waitsForMigration ? undefined : STATEMENT_WAIT_MS_MAX,
  });
  const askOne = () => ready().then(() => lookups.query('SELECT 1'));
  return {
    kind: isEmbedded ? 'embedded' : 'server',
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
      const connections = [writer, usageWriter, lookups, log, background, accounts, reads];
      await Promise.all(connections.map((connection) => connection.close()));
      await handover?.close();
      release?.();
    },
  };
}

type Connect = (settings: ClickHouseSettings, silenceMsMax: number) => Connection;

function connector(
  clickhouse: Config['clickhouse'],
  { folder, engines, merged }: { folder: string; engines: Engines; merged: ClickHouseSettings | undefined },
): Connect {
  if (clickhouse !== undefined) {
    return (settings, silenceMsMax) =>
      connectServer(clickhouse, {
        settings: { ...settings, ...engines.settings },
        silenceMsMax,
        mergedInserts: merged,
      });
  }
  makeDirectory(folder);
  return (settings) => connectEmbedded(folder, settings);
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
