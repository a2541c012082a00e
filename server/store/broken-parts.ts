import { crc32 } from 'node:zlib';
import type { Connection } from './connection.ts';
import type { Handover } from './handover.ts';
import { sql } from './sql.ts';
import { StoreOpenError } from './store.ts';

/** A part of a table that was damaged or missing when the engine opened the store. Its rows are missing from every answer. */
export type BrokenPart = { table: string; name: string; isMissing?: true; expires?: number };
type PresentPart = BrokenPart & { partition_id: string; first: number; last: number; expires: number };
type Deps = { connection: Connection; handover: Handover | undefined; nowMs: number };

const FILE = 'parts';

/** Tables of what happened. The others say what is in force, and without rows of them a revoked key would work again. */
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

/**
 * The parts that the engine moved aside because they are damaged, and those of the last stop that are gone without a trace. A part of
 * which some blocks are left counts as present: after a power cut, the parts that it was merged from may be there in its place.
 */
export async function findBrokenParts({ connection, handover, nowMs }: Deps): Promise<BrokenPart[]> {
  const broken = await connection.query<BrokenPart>(sql('parts_broken'));
  const present = Map.groupBy(await readPresent(connection), placeOf);
  const isMissing = (part: PresentPart) =>
    (part.expires === 0 || part.expires * 1000 > nowMs) &&
    !broken.some(({ table, name }) => table === part.table && name.endsWith(`_${part.name}`)) &&
    !present.get(placeOf(part))?.some(({ first, last }) => first <= part.last && last >= part.first);
  const missing = (await takeLeft(handover)).filter(isMissing);
  return [...broken, ...missing.map((part) => ({ ...part, isMissing: true as const }))];
}

/** Throws a StoreOpenError where a part is of a table that says what is in force. */
export function requireInForce(parts: BrokenPart[]): void {
  // Rows that expire, such as sessions, may have gone while the clock was ahead.
  const mayHaveExpired = ({ isMissing, expires = 0 }: BrokenPart) => isMissing === true && expires > 0;
  const inForce = parts.filter((part) => !RECORDS.has(part.table) && !mayHaveExpired(part));
  if (inForce.length === 0) return;
  throw new StoreOpenError(
    `Files of the store are damaged: ${nameParts(inForce).join(', ')}. What is in them would no longer be in force, such as ` +
      'that a key is revoked, so the service does not start. docs/operations.md says how to restore them, under "Damaged files".',
  );
}

/** Leaves a list of the parts for the next start, with those that are missing already. */
export async function leaveParts(
  { connection, handover }: Omit<Deps, 'nowMs'>,
  broken: BrokenPart[],
): Promise<void> {
  const text = JSON.stringify([
    ...(await readPresent(connection)),
    ...broken.filter(({ isMissing }) => isMissing),
  ]);
  const { signal } = new AbortController();
  await handover?.leave(FILE, (file) => file.writeFile(`${crc32(text)}\n${text}`), { isFinal: true, signal });
}

export function nameParts(parts: BrokenPart[]): string[] {
  return parts.map(({ table, name, isMissing }) => `${table} ${name}${isMissing ? ' (missing)' : ''}`);
}

function readPresent(connection: Connection): Promise<PresentPart[]> {
  return connection.query<PresentPart>(sql('parts_present'));
}

/** Nothing when the list is damaged itself: one wrong digit could make a part look missing. */
async function takeLeft(handover: Handover | undefined): Promise<PresentPart[]> {
  const file = handover?.take(FILE)?.file;
  if (file === undefined) return [];
  try {
    const [checksum, text = ''] = (await file.readFile('utf8')).split('\n');
    return checksum === `${crc32(text)}` ? (JSON.parse(text) as PresentPart[]) : [];
  } finally {
    await file.close();
  }
}

function placeOf({ table, partition_id }: PresentPart): string {
  return `${table} ${partition_id}`;
}
