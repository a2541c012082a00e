import type { Entry } from '../commit/write-queue.ts';
import type { Event } from './event.ts';

/** What the service adds to an event. */
export type ServerFields = { project_id: string; agent_version_id: string; receivedAtMs: number };

/** The columns that the service adds, in the order of `lineStartFrom`. */
const SERVER_COLUMNS = ['project_id', 'agent_version_id', 'received_at', 'version'] as const;

export type Columns<E extends Event> = readonly (
  Exclude<keyof E & string, 'occurredAtMs'> | (typeof SERVER_COLUMNS)[number]
)[];

/** The columns of an event table: the ones that the service adds, and the fields of its events. */
export function columnsOf<Name extends string>(schema: { properties: Record<Name, unknown> }) {
  const names = Object.keys(schema.properties) as Name[];
  return [...SERVER_COLUMNS, ...names] as const;
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
export function entryFrom<E extends Event>(event: E, server: ServerFields, columns: Columns<E>): Entry {
  const { event_id, occurredAtMs } = event;
  const { project_id, receivedAtMs } = server;
  return {
    identity: { project_id, event_id, occurredAtMs, receivedAtMs },
    line: lineStartFrom(server) + lineEndFrom(event, columns),
  };
}

/** The values that the service adds. The events of a batch may share them: no two rows of a batch have one identity. */
export function lineStartFrom({ project_id, agent_version_id, receivedAtMs }: ServerFields): string {
  const ids = `${JSON.stringify(project_id)},${JSON.stringify(agent_version_id)}`;
  return `[${ids},${receivedAtMs},${versionAt(receivedAtMs)},`;
}

/**
 * What the event itself gives to its line: all but the first columns, which the service adds. Times are milliseconds since
 * the epoch: ClickHouse reads a number as the ticks of a DateTime64(3).
 */
export function lineEndFrom<E extends Event>(event: E, columns: Columns<E>): string {
  const values: unknown[] = [];
  for (let at = SERVER_COLUMNS.length; at < columns.length; at += 1) {
    const column = columns[at] as keyof E;
    values.push(column === 'occurred_at' ? event.occurredAtMs : event[column]);
  }
  return JSON.stringify(values).slice(1);
}
