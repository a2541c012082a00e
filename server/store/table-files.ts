import { existsSync, globSync, lstatSync, readFileSync, statfsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { replaceFile, syncName, syncTree } from '../durable-files.ts';
import { StoreOpenError } from './open-faults.ts';

/** The levels from the folder down to the directory of a table: store, a prefix, the table. */
const TABLE_LEVELS = 3;

/** The names of the tables whose files have been on the disk. */
const listIn = (folder: string) => join(folder, 'tables.json');

/** The engine finds the definitions of the tables through this link only, not if a copy has them in its place. */
const LINK = 'metadata/default';

/** More than all migrations of an empty store write. */
const MIGRATION_MB_MIN = 16;

/**
 * Throws a StoreOpenError if the disk is too full for a migration. The engine does not notice that the definition of a table did not fit.
 * It leaves an empty file, also in the place of an earlier definition, and cannot open the folder again.
 */
export function requireSpace(folder: string): void {
  const { blocks, bavail, bsize } = statfsSync(folder);
  const freeMb = Math.floor((bavail * bsize) / 2 ** 20);
  // Some network file systems do not report their size.
  if (blocks === 0 || freeMb >= MIGRATION_MB_MIN) return;
  throw new StoreOpenError(
    `The disk of ${folder} has ${freeMb} MB free, and a change of the schema needs ${MIGRATION_MB_MIN}. Free some space, and start again.`,
  );
}

/**
 * Throws a StoreOpenError if the definition or the data of a table are gone. The engine would make an empty table in their place, without
 * a message, and a revoked key would work again. Must come before the engine opens the folder. Tables that were being made when the
 * power was cut are not required.
 */
export function requireTables(folder: string): void {
  if (lstatSync(join(folder, LINK), { throwIfNoEntry: false })?.isDirectory())
    throw damaged(`missing: the link ${LINK}`);
  if (!existsSync(listIn(folder))) return;
  const tables = tablesIn(folder);
  const lost = namesIn(folder).flatMap((name) => {
    const id = tables.get(name);
    if (id === undefined) return [`the definition of ${name}`];
    return existsSync(join(folder, 'store', id.slice(0, 3), id)) ? [] : [`the data of ${name}`];
  });
  if (lost.length === 0) return;
  const files = tables.size === 0 ? 'the definitions of all tables' : lost.join(', ');
  throw damaged(`missing: ${files}`);
}

function namesIn(folder: string): string[] {
  try {
    const names: unknown = JSON.parse(readFileSync(listIn(folder), 'utf8'));
    if (Array.isArray(names)) return names as string[];
  } catch {
    // Not JSON, or not a file.
  }
  throw damaged(`damaged: ${basename(listIn(folder))}`);
}

function damaged(what: string): StoreOpenError {
  return new StoreOpenError(
    `Files of the store are ${what}. Put them back, or restore a backup. docs/operations.md says how, under "Damaged files".`,
  );
}

/** Waits until the names of the tables are on the disk, as the engine syncs only their files, and requires them from then on. */
export function keepTables(folder: string, hasChanged: boolean): void {
  if (!hasChanged && existsSync(listIn(folder))) return;
  syncTree(folder, TABLE_LEVELS);
  syncName(folder);
  replaceFile(listIn(folder), JSON.stringify([...tablesIn(folder).keys()]));
  syncName(listIn(folder));
}

/** The identifiers of the tables by their names, without those in memory. */
function tablesIn(folder: string): Map<string, string> {
  const tables = new Map<string, string>();
  for (const path of globSync(`${LINK}/*.sql`, { cwd: folder })) {
    const text = readFileSync(join(folder, path), 'utf8');
    const [, id] = /^ATTACH TABLE _ UUID '([^']+)'[^]*^ENGINE = \w*MergeTree/m.exec(text) ?? [];
    if (id !== undefined) tables.set(basename(path, '.sql'), id);
  }
  return tables;
}
