import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeDirectory } from '../make-directory.ts';
import type { Config } from '../config.ts';
import { lockDataDir } from '../store/data-dir-lock.ts';
import { EMBEDDED_FOLDER, fatalStoreFault, StoreInUseError } from '../store/store.ts';
import { CommandError } from './command-error.ts';
import { requireEmbedded, secondsSince } from './transfer.ts';

/** The root key, and the key that signs the logs: without it a restored service could not extend them. */
const KEY_FILE = 'signing-key.pem';
const LOG_KEY_FILE = 'log-key.pem';
const DATABASE = 'default';

/** Backs up the embedded store with ClickHouse's BACKUP statement, and its keys. The service must be stopped. */
export async function backUp(config: Config, to: string): Promise<unknown> {
  requireEmbedded(config, 'backup');
  const directory = resolve(to);
  if (existsSync(directory)) throw new CommandError(`${directory} already exists. Name a new directory.`);
  const startMs = performance.now();
  await onEngine(config.dataDir, {
    sql: `BACKUP DATABASE ${DATABASE} TO File('${join(directory, 'store')}/')`,
    allowed: directory,
  });
  copyKeys(config.dataDir, directory);
  const fileOr = (name: string, variable: string) =>
    existsSync(join(directory, name)) ? name : `not included: it is in ${variable}`;
  return {
    directory,
    root_key: fileOr(KEY_FILE, 'GATE_SIGNING_KEY'),
    log_key: fileOr(LOG_KEY_FILE, 'GATE_LOG_KEY'),
    seconds: secondsSince(startMs),
  };
}

/** Restores a backup into an empty data directory. */
export async function restore(config: Config, from: string): Promise<unknown> {
  requireEmbedded(config, 'restore');
  const directory = resolve(from);
  if (!existsSync(join(directory, 'store')))
    throw new CommandError(`${directory} does not contain a backup.`);
  if (existsSync(config.dataDir) && readdirSync(config.dataDir).length > 0) {
    throw new CommandError(`${config.dataDir} is not empty. Set GATE_DATA_DIR to a new directory.`);
  }
  makeDirectory(config.dataDir);
  const startMs = performance.now();
  await onEngine(config.dataDir, {
    sql: `RESTORE DATABASE ${DATABASE} FROM File('${join(directory, 'store')}/')`,
    allowed: directory,
  });
  copyKeys(directory, config.dataDir);
  return { data_dir: config.dataDir, seconds: secondsSince(startMs) };
}

function copyKeys(from: string, to: string): void {
  for (const name of [KEY_FILE, LOG_KEY_FILE])
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
}

/** Runs one statement on the engine. Its configuration, read when it opens, must allow the path of the backup. */
async function onEngine(dataDir: string, { sql, allowed }: { sql: string; allowed: string }): Promise<void> {
  if (!/^[\w./ +@:-]+$/.test(allowed))
    throw new CommandError(`${allowed} contains characters that a backup path must not contain.`);
  const release = await lockDataDir(dataDir);
  if (release === undefined) throw new StoreInUseError(dataDir);
  const { Session } = await import('chdb');
  makeDirectory(allowed);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  const file = join(folder, 'backup.xml');
  writeFileSync(file, `<clickhouse><backups><allowed_path>${allowed}</allowed_path></backups></clickhouse>`);
  try {
    const session = new Session(join(dataDir, EMBEDDED_FOLDER), {
      connectionArgs: [`--config-file=${file}`],
    });
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
