import { join } from 'node:path';
import { connectEmbedded } from '../../server/store/connection.ts';
import { queryServer } from './clickhouse-server/environment.ts';
import { inProcess } from './in-process.ts';

/** Runs one statement on the store of a data directory that no service has open, and resolves with its rows. */
export async function runOnStore<Row>(dataDir: string, sql: string): Promise<Row[]> {
  const onServer = await queryServer<Row>(dataDir, sql);
  if (onServer !== undefined) return onServer;
  return inProcess<Row[]>(new URL(import.meta.url), 'runStatement', {
    path: join(dataDir, 'clickhouse'),
    sql,
  });
}

/** Called in a process of its own. */
export async function runStatement({ path, sql }: { path: string; sql: string }): Promise<unknown[]> {
  const connection = connectEmbedded(path, {});
  try {
    if (sql.startsWith('SELECT')) return await connection.query(sql);
    await connection.command(sql);
    return [];
  } finally {
    await connection.close();
  }
}
