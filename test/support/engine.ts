import { join } from 'node:path';
import { readConfig } from '../../server/config.ts';
import { createLogger } from '../../server/logger.ts';
import { connectEmbedded } from '../../server/store/connection.ts';
import { createStore, type Store } from '../../server/store/store.ts';
import { queryServer } from './clickhouse-server/environment.ts';
import { temporaryDirectory } from './service.ts';

let last: Promise<unknown> = Promise.resolve();

/** Runs work that opens an embedded store in this process, one after the other: a process holds one at a time. */
export function oneStoreAtATime<T>(run: () => Promise<T>): Promise<T> {
  const ended = last.then(run);
  last = ended.catch(() => undefined);
  return ended;
}

/** The store of a data directory, by default a new one, in this process. */
export async function openStore(dataDir = temporaryDirectory()): Promise<Store> {
  const store = createStore(readConfig({ GATE_DATA_DIR: dataDir }), createLogger('silent'));
  await store.ready();
  return store;
}

/** Runs one statement on the store of a data directory that no service has open, and resolves with its rows. */
export async function runOnStore<Row>(dataDir: string, sql: string): Promise<Row[]> {
  const onServer = await queryServer<Row>(dataDir, sql);
  return onServer ?? oneStoreAtATime(() => runStatement<Row>(join(dataDir, 'clickhouse'), sql));
}

async function runStatement<Row>(path: string, sql: string): Promise<Row[]> {
  const connection = connectEmbedded(path, {});
  try {
    if (sql.startsWith('SELECT')) return await connection.query<Row>(sql);
    await connection.command(sql);
    return [];
  } finally {
    await connection.close();
  }
}
