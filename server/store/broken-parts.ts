import type { Logger } from 'pino';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import { StoreOpenError } from './open-faults.ts';

/** A part of a table that was damaged when the engine opened the store, or a hole in a log. Its rows are missing from every answer. */
export type BrokenPart = { table: string; name: string };

/** Tables of past events. The others hold the current state: if they lost rows, a revoked key would work again, for example. */
const RECORDS = new Set([
  'activity',
  'alerts',
  'alert_rounds',
  'decisions',
  'emitter_closes',
  'emitter_starts',
  'event_identities',
  'llm_invocations',
  'log_chunks',
  'log_cosignatures',
  'log_hashes',
]);

export async function findBrokenParts(connection: Pick<Connection, 'query'>): Promise<BrokenPart[]> {
  const broken = await connection.query<BrokenPart>(sql('parts_broken'));
  return [...broken, ...(await findHoles(connection))];
}

/** A log with a hole must not grow: the missing records would enter it a second time. */
async function findHoles(connection: Pick<Connection, 'query'>): Promise<BrokenPart[]> {
  const table = 'log_chunks';
  try {
    const holes = await connection.query<{ project_id: string }>(sql('log_holes'));
    return holes.map(({ project_id }) => ({ table, name: `lacks entries of project ${project_id}` }));
  } catch (error) {
    return [{ table, name: `cannot be read: ${String((error as Error).cause ?? error)}` }];
  }
}

/**
 * Whether identities may be gone with a part that has no directory any more. Comparing all of them with the records restores them, which
 * is impossible where bytes are wrong. Those must not prevent the start.
 */
export async function mayLackIdentities(connection: Connection, logger: Logger): Promise<boolean> {
  try {
    const [row] = await connection.query<{ has_gap: number | boolean }>(sql('identities_gap'));
    return Boolean(row?.has_gap);
  } catch (error) {
    logger.error(
      { err: error },
      'Files of the store cannot be read, so missing identities are not searched for',
    );
    return false;
  }
}

/** Throws a StoreOpenError if a part belongs to a table of the current state. */
export function requireCurrentState(parts: BrokenPart[]): void {
  const current = parts.filter(({ table }) => !RECORDS.has(table));
  if (current.length === 0) return;
  throw new StoreOpenError(
    `Files of the store are damaged: ${nameParts(current).join(', ')}. What is in them would no longer be in force, such as ` +
      'that a key is revoked, so the service does not start. docs/operations.md says how to restore them, under "Damaged files".',
  );
}

export function nameParts(parts: BrokenPart[]): string[] {
  return parts.map(({ table, name }) => `${table} ${name}`);
}
