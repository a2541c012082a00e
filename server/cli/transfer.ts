import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an export holds; it is written anew after every file, so that what was cut short goes on from there. */
export type Manifest = {
  format: 1;
  /** The newest migration of the store that was exported. */
  schema_version: number;
  tables: Record<string, string[]>;
  /** `rows` and `newest`, the last received_at, are of a day in the store when it was written. */
  files: { name: string; table: string; day?: string; rows?: number; newest?: string }[];
};

/** Events, day by day; their identities are made anew where they go. */
export const EVENT_TABLES = ['decisions', 'llm_invocations'] as const;
/** Everything else; small enough to be compared row by row. */
export const SMALL_TABLES = [
  'projects',
  'api_keys',
  'agent_versions',
  'accounts',
  'sessions',
  'mailed_tokens',
  'mailed_token_uses',
  'project_members',
  'activity',
] as const;

/** What was asked for cannot be done; the message says what would be right. */
export class TransferError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TransferError';
  }
}

export type Tell = (line: string) => void;

const MANIFEST = 'manifest.json';

export function readManifest(directory: string): Manifest | undefined {
  try {
    return JSON.parse(readFileSync(join(directory, MANIFEST), 'utf8')) as Manifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function writeManifest(directory: string, manifest: Manifest): void {
  writeWhole(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** The file is there as it should be, or as it was: never in half. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
