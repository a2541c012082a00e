import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { queryServer } from './clickhouse-server/environment.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const run = promisify(execFile);

const SCRIPT = `
  import { createClient } from '@clickhouse/client';
  import { createChdbConnection } from 'chdb/connection';
  const [path, sql] = process.argv.slice(1);
  const client = createClient({ connection: createChdbConnection({ path }) });
  if (/^SELECT/.test(sql)) {
    const result = await client.query({ query: sql, format: 'JSONEachRow' });
    console.log(JSON.stringify(await result.json()));
  } else {
    await client.command({ query: sql });
    console.log('[]');
  }
  await client.close();
`;

/**
 * Runs one statement on the store of a data directory that no service has open, and resolves with its rows.
 * In a process of its own, because one process holds one directory.
 */
export async function runOnStore<Row>(dataDir: string, sql: string): Promise<Row[]> {
  const onServer = await queryServer<Row>(dataDir, sql);
  if (onServer !== undefined) return onServer;
  const args = ['--input-type=module', '--eval', SCRIPT, join(dataDir, 'clickhouse'), sql];
  const { stdout } = await run(process.execPath, args, { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as Row[];
}
