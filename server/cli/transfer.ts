import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import type { Config } from '../config.ts';
import { replaceFile, sync } from '../durable-files.ts';
import { type BrokenPart, nameParts } from '../store/broken-parts.ts';
import { CommandError } from './command-error.ts';

/** The contents of an export. Rewritten after every file, so that an interrupted export can continue. */
export type Manifest = {
  format: typeof FORMAT;
  /** The newest migration of the store that was exported. */
  schema_version: number;
  tables: Record<string, string[]>;
  /** The export is complete: every file is written. */
  complete: boolean;
  /** In the order in which they are imported. */
  files: Part[];
};
/**
 * One file. For a day or a range of the log's rounds: its number of rows and its latest received_at or committed_at when it was written.
 */
export type Part = {
  name: string;
  table: string;
  day?: string;
  range?: string;
  rows?: number;
  newest?: string;
  /** The size of the file that was written. */
  bytes?: number;
};

/**
 * Version 2 added the log; version 3 added `complete`, `bytes` and account_identities. An export without them may lack records or accounts.
 */
export const FORMAT = 3;
/** The log is imported first, so that logged records do not enter again. */
export const LOG_TABLE = 'log_chunks';

/** Events, exported by day. Their identities are not exported; the import creates them. */
export const EVENT_TABLES = ['decisions', 'llm_invocations'] as const;
/** All other tables, small enough to compare row by row. */
export const SMALL_TABLES = [
  'projects',
  'api_keys',
  'agent_versions',
  'root_key_successions',
  'accounts',
  'account_identities',
  'sessions',
  'mailed_tokens',
  'mailed_token_uses',
  'project_members',
  'activity',
  'alert_settings',
  'alerts',
  'log_keys',
  'log_cosignatures',
  'emitter_closes',
  'emitter_starts',
] as const;

/** Progress goes to stderr, because stdout has the result. */
export function showProgress(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** The result is usable: restoring the missing data is one step of a repair. */
export function reportBrokenParts(parts: BrokenPart[]): void {
  if (parts.length === 0) return;
  showProgress(
    `Files of the store are damaged: ${nameParts(parts).join(', ')}. What was in them is not included. ` +
      'docs/operations.md says how to restore them, under "Damaged files".',
  );
}

export function requireEmbedded({ clickhouse }: Config, command: string): void {
  if (clickhouse === undefined) return;
  throw new CommandError(
    `${command} works on the embedded store only: unset GATE_CLICKHOUSE_URL. For a server, use its BACKUP statement.`,
  );
}

/** Seconds since a value of performance.now(), to one decimal place. */
export function secondsSince(startMs: number): number {
  return Math.round((performance.now() - startMs) / 100) / 10;
}

const MANIFEST = 'manifest.json';

export function readManifest(directory: string): Manifest | undefined {
  const path = join(directory, MANIFEST);
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
    if (Array.isArray(manifest.files) && manifest.tables instanceof Object) return manifest;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code !== undefined && code !== 'EISDIR') throw error;
  }
  throw new CommandError(`${path} is not the manifest of an export. Export into a new directory.`);
}

export function writeManifest(directory: string, manifest: Manifest): void {
  replaceFile(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  sync(directory);
}

/** Whether a file of an export exists with the length that was written. */
export function isWhole(directory: string, { name, bytes }: Part): boolean {
  const found = statSync(join(directory, name), { throwIfNoEntry: false })?.size;
  return found !== undefined && found === bytes;
}

/** The rows of a file of an export. */
export async function* linesOf(path: string): AsyncGenerator<string> {
  try {
    for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) }))
      if (line !== '') yield line;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') !== true) throw error;
    throw new CommandError(`${path} is damaged. Delete it, and run the export again.`, { cause: error });
  }
}
