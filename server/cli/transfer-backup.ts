import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../make-directory.ts';
import type { Config } from '../config.ts';
import { lockDataDir } from '../store/data-dir-lock.ts';
import { fatalStoreFault, StoreInUseError } from '../store/store.ts';
import { TransferError } from './transfer.ts';

const KEY_FILE = 'signing-key.pem';
const DATABASE = 'default';

/** The whole embedded store and its root key, as ClickHouse's BACKUP writes them. The service must be stopped. */
export async function backUp(config: Config, { to }: { to: string }): Promise<unknown> {
  mustBeEmbedded(config, 'backup');
  const directory = resolve(to);
  if (existsSync(directory)) throw new TransferError(`${directory} exists already; name a new directory.`);
  const startMs = performance.now();
  await onEngine(config.dataDir, {
    sql: `BACKUP DATABASE ${DATABASE} TO File('${join(directory, 'store')}/')`,
    allowed: directory,
  });
  const key = join(config.dataDir, KEY_FILE);
  if (existsSync(key)) copyFileSync(key, join(directory, KEY_FILE));
  return {
    directory,
    root_key: existsSync(key) ? KEY_FILE : 'not here (GATE_SIGNING_KEY)',
    seconds: secondsSince(startMs),
  };
}

/** Brings a backup into a data directory that has no store yet. */
export async function restore(config: Config, { from }: { from: string }): Promise<unknown> {
  mustBeEmbedded(config, 'restore');
  const directory = resolve(from);
  if (!existsSync(join(directory, 'store'))) throw new TransferError(`${directory} holds no backup.`);
  if (existsSync(config.dataDir) && readdirSync(config.dataDir).length > 0) {
    throw new TransferError(`${config.dataDir} is not empty; restore into a new GATE_DATA_DIR.`);
  }
  makeDirectory(config.dataDir);
  const startMs = performance.now();
  await onEngine(config.dataDir, {
    sql: `RESTORE DATABASE ${DATABASE} FROM File('${join(directory, 'store')}/')`,
    allowed: directory,
  });
  const key = join(directory, KEY_FILE);
  if (existsSync(key)) copyFileSync(key, join(config.dataDir, KEY_FILE));
  return { data_dir: config.dataDir, seconds: secondsSince(startMs) };
}

function mustBeEmbedded({ clickhouse }: Config, what: string): void {
  if (clickhouse === undefined) return;
  throw new TransferError(
    `${what} is for the embedded store: unset GATE_CLICKHOUSE_URL. A server has BACKUP itself.`,
  );
}

/** The engine writes backups only where its configuration says, which is given when it is opened. */
async function onEngine(dataDir: string, { sql, allowed }: { sql: string; allowed: string }): Promise<void> {
  if (!/^[\w./ +@:-]+$/.test(allowed))
    throw new TransferError(`${allowed} has characters that a backup path may not have.`);
  const release = await lockDataDir(dataDir);
  if (release === undefined) throw new StoreInUseError(dataDir);
  const { Session } = await import('chdb');
  makeDirectory(allowed);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  const file = join(folder, 'backup.xml');
  writeFileSync(file, `<clickhouse><backups><allowed_path>${allowed}</allowed_path></backups></clickhouse>`);
  try {
    const session = new Session(join(dataDir, 'clickhouse'), { connectionArgs: [`--config-file=${file}`] });
    try {
      await session.queryAsync(sql);
    } finally {
      session.close();
    }
  } catch (error) {
    throw fatalStoreFault(error, dataDir) ?? error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
    release();
  }
}

function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 100) / 10;
}
