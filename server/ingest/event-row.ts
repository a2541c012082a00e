import type { Entry } from '../commit/write-queue.ts';
import type { Event } from './event.ts';

/** What the service adds to an event. */
export type ServerFields = { project_id: string; agent_version_id: string; receivedAtMs: number };

/** A stored row. Times are milliseconds since the epoch: ClickHouse reads a number as the ticks of a DateTime64(3). */
type Row<E extends Event> = Omit<E, 'occurredAtMs' | 'occurred_at'> & {
  project_id: string;
  agent_version_id: string;
  occurred_at: number;
  received_at: number;
  version: number;
};
export type Columns<E extends Event> = readonly (keyof Row<E> & string)[];

/** The columns of an event table: the fields of its events, and the ones that the service adds. */
export function columnsOf<Name extends string>(schema: { properties: Record<Name, unknown> }) {
  const names = Object.keys(schema.properties) as Name[];
  return ['project_id', 'agent_version_id', 'received_at', 'version', ...names] as const;
}

/**
 * `version` counts down with received_at, so the row received first has the highest. Its last bits are a random
 * tie-breaker: of two rows that two services received in the same millisecond, every reader must pick the same one.
 */
const VERSION_FROM_MS = 2 ** 42;
const VERSIONS_PER_MS = 2 ** 11;

function versionAt(receivedAtMs: number): number {
  return (VERSION_FROM_MS - receivedAtMs) * VERSIONS_PER_MS + Math.floor(Math.random() * VERSIONS_PER_MS);
}

/** The stored row of an event, as a line in the order of the columns. */
export function entryFrom<E extends Event>(
  event: E,
  { project_id, agent_version_id, receivedAtMs }: ServerFields,
  columns: Columns<E>,
): Entry {
  const { event_id, occurredAtMs } = event;
  const row: Row<E> = {
    ...event,
    project_id,
    agent_version_id,
    occurred_at: occurredAtMs,
    received_at: receivedAtMs,
    version: versionAt(receivedAtMs),
  };
  return {
    identity: { project_id, event_id, occurredAtMs, receivedAtMs },
    line: JSON.stringify(columns.map((column) => row[column])),
  };
}
