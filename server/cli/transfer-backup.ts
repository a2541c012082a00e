import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { sync, syncName, syncTree } from '../durable-files.ts';
import { makeDirectory, UNFINISHED_RESTORE } from '../make-directory.ts';
import type { Config } from '../config.ts';
import { isDiskFull } from '../expected-fault.ts';
import { findBrokenParts } from '../store/broken-parts.ts';
import { lockDataDir } from '../store/data-dir-lock.ts';
import { EMBEDDED_FOLDER } from '../store/embedded-folder.ts';
import { fatalStoreFault, StoreInUseError } from '../store/open-faults.ts';
import { requireTables } from '../store/table-files.ts';
import { CommandError } from './command-error.ts';
import { withFileFaults } from './file-faults.ts';
import { requireStore } from './open-store.ts';
import { requireEmbedded, secondsSince, reportBrokenParts } from './transfer.ts';

/** The root key, and the key that signs the logs: without it, a restored service could not extend them. */
const KEY_FILE = 'signing-key.pem';
const LOG_KEY_FILE = 'log-key.pem';
const DATABASE = 'default';

/** Backs up the embedded store with ClickHouse's BACKUP statement, and its keys. The service must be stopped. */
export function backUp(config: Config, to: string): Promise<unknown> {
  requireEmbedded(config, 'backup');
  requireStore(config);
  const directory = resolve(to);
  if (existsSync(directory)) throw new CommandError(`${directory} already exists. Name a new directory.`);
  requireBackupPath(directory);
  const startMs = performance.now();
  return withFileFaults({ directory, isWritten: true }, async () => {
    makeDirectory(dirname(directory));
    // An interrupted backup must not have the final name.
    const unfinished = mkdtempSync(`${directory}.unfinished-`);
    try {
      await onEngine(config.dataDir, {
        statement: `BACKUP DATABASE ${DATABASE} TO`,
        backup: unfinished,
        fault: `The store in ${config.dataDir} cannot be backed up`,
        target: directory,
      });
      if (!isWhole(unfinished))
        throw new CommandError(`Files of the backup are cut short. Is the disk of ${directory} full?`);
      const keys = copyKeys(config.dataDir, unfinished, config);
      syncTree(unfinished);
      renameSync(unfinished, directory);
      syncName(directory);
      return { directory, ...keys, seconds: secondsSince(startMs) };
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  });
}

/** Restores a backup into an empty data directory. */
export function restore(config: Config, from: string): Promise<unknown> {
  requireEmbedded(config, 'restore');
  const directory = resolve(from);
  if (!isWhole(directory)) throw new CommandError(`${directory} does not contain a whole backup.`);
  requireBackupPath(directory);
  if (existsSync(config.dataDir) && readdirSync(config.dataDir).length > 0)
    throw new CommandError(`${config.dataDir} is not empty. Set GATE_DATA_DIR to a new directory.`);
  const startMs = performance.now();
  return withFileFaults({ directory }, async () => {
    makeDirectory(config.dataDir);
    const mark = join(config.dataDir, UNFINISHED_RESTORE);
    writeFileSync(mark, '');
    await onEngine(config.dataDir, {
      statement: `RESTORE DATABASE ${DATABASE} FROM`,
      backup: directory,
      fault: `The backup in ${directory} cannot be restored`,
      target: config.dataDir,
    });
    const keys = copyKeys(directory, config.dataDir, { signingKey: undefined, logKey: undefined });
    syncTree(config.dataDir);
    rmSync(mark);
    sync(config.dataDir);
    syncName(config.dataDir);
    return { data_dir: config.dataDir, ...keys, seconds: secondsSince(startMs) };
  });
}

/** A file in the list of a backup. Files with the same bytes are stored once, as the `data_file`. */
const LISTED =
  /<name>([^<]+)<\/name><size>([1-9]\d*)<\/size><checksum>\w+<\/checksum>(?:<data_file>([^<]+)<\/data_file>)?/g;

/** Judges by the list that the engine writes last. The engine reports no error when a full disk truncates its files. */
function isWhole(backup: string): boolean {
  const store = join(backup, 'store');
  const list = join(store, '.backup');
  const text = existsSync(list) ? readFileSync(list, 'utf8').trimEnd() : '';
  const sizeOf = (name: string) => statSync(join(store, name), { throwIfNoEntry: false })?.size;
  const files = [...text.matchAll(LISTED)];
  return (
    text.endsWith('</config>') &&
    files.every(([, name = '', size, file = name]) => sizeOf(file) === Number(size))
  );
}

/** The path becomes part of the engine's configuration and of the statement. */
function requireBackupPath(directory: string): void {
  if (/^[\w./ +@:-]+$/.test(directory)) return;
  throw new CommandError(`${directory} contains characters that a backup path must not contain.`);
}

/** Copies the keys that the configuration does not name: a file next to a named key is not the key in use. */
function copyKeys(from: string, to: string, { signingKey, logKey }: Pick<Config, 'signingKey' | 'logKey'>) {
  const copy = (name: string, given: string | undefined, variable: string) => {
    if (given !== undefined) return `not included: it is in ${variable}`;
    if (!existsSync(join(from, name)))
      return `not included: it is in ${variable}, or no service has made one`;
    copyFileSync(join(from, name), join(to, name));
    return name;
  };
  return {
    root_key: copy(KEY_FILE, signingKey, 'GATE_SIGNING_KEY'),
    log_key: copy(LOG_KEY_FILE, logKey, 'GATE_LOG_KEY'),
  };
}

type Statement = {
  /** The path of the backup follows it. */
  statement: string;
  backup: string;
  /** What its failure means. */
  fault: string;
  /** The directory that is written. */
  target: string;
};

type CheckedPart = { database: string; table: string; part_path: string; is_passed: number | boolean };

/** Runs a statement on the engine. Its configuration, which is read on opening, must allow the path of the backup. */
async function onEngine(dataDir: string, { statement, backup, fault, target }: Statement): Promise<void> {
  const release = await lockDataDir(dataDir);
  if (release === undefined) throw new StoreInUseError(dataDir);
  const { Session } = await import('chdb');
  const store = join(dataDir, EMBEDDED_FOLDER);
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  const file = join(folder, 'backup.xml');
  writeFileSync(file, `<clickhouse><backups><allowed_path>${backup}</allowed_path></backups></clickhouse>`);
  try {
    requireTables(store);
    const session = new Session(store, {
      connectionArgs: [`--config-file=${file}`],
    });
    try {
      const rowsOf = async <Row>(text: string) =>
        (await session.queryAsync(text, { format: 'JSON' })).json<{ data: Row[] }>().data;
      await session.queryAsync(`${statement} File('${join(backup, 'store')}/')`);
      // A backup copies files without reading them.
      const checked = await rowsOf<CheckedPart>('CHECK ALL TABLES');
      const broken = await findBrokenParts({ query: rowsOf });
      const wrong = checked.filter(({ database, is_passed }) => database === DATABASE && !is_passed);
      reportBrokenParts([...broken, ...wrong.map(({ table, part_path: name }) => ({ table, name }))]);
    } finally {
      session.close();
    }
  } catch (error) {
    const fatal = fatalStoreFault(error, dataDir);
    if (fatal !== undefined || isDiskFull(error)) throw fatal ?? error;
    // The engine may not notice that a full disk truncates its files, and then finds them damaged.
    throw new CommandError(`${fault}: ${(error as Error).message} Is the disk of ${target} full?`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    release();
  }
}
