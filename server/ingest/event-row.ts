import type { Entry } from '../commit/write-queue.ts';
import type { Event } from './event.ts';
import { LEDGER_COLUMNS, NO_LEDGER } from './ledger.ts';
import { nextSalt } from './salt.ts';

/** The fields that the service adds to an event. */
type ServerFields = { project_id: string; agent_version_id: string; receivedAtMs: number };

/** The columns that the service adds before the event, in the order of `lineStartFrom`. */
const SERVER_COLUMNS = ['project_id', 'agent_version_id', 'received_at', 'version'] as const;

/** How the events of one kind become rows: their fields, and whether their records enter the log. */
export type RowKind<E extends Event> = {
  fields: readonly Exclude<keyof E & string, 'occurredAtMs'>[];
  isLogged: boolean;
};

export function rowKindOf<Name extends string>(
  schema: { properties: Record<Name, unknown> },
  { isLogged }: { isLogged: boolean },
) {
  return { fields: Object.keys(schema.properties) as Name[], isLogged };
}

/** The columns of a line. A logged row has one more, `flush`, which its insert adds. */
export function columnsOf<E extends Event>({ fields, isLogged }: RowKind<E>): readonly string[] {
  return [...SERVER_COLUMNS, ...fields, ...LEDGER_COLUMNS, ...(isLogged ? ['salt'] : [])];
}

/**
 * `version` counts down with received_at, so the row received first has the highest. Its last bits are a random tie-breaker: of two rows
 * that two services received in the same millisecond, every reader must pick the same one.
 */
const VERSION_FROM_MS = 2 ** 42;
const VERSIONS_PER_MS = 2 ** 11;

function versionAt(receivedAtMs: number): number {
  return (VERSION_FROM_MS - receivedAtMs) * VERSIONS_PER_MS + Math.floor(Math.random() * VERSIONS_PER_MS);
}

/** The stored row of an event, as a line in the order of `columnsOf`. `ledger`: see `ledgerOf`. */
export function entryFrom<E extends Event>(
  event: E,
  { ledger = NO_LEDGER, ...server }: ServerFields & { ledger?: string },
  kind: RowKind<E>,
): Entry {
  const { event_id, occurredAtMs } = event;
  const { project_id, receivedAtMs } = server;
  return {
    identity: { project_id, event_id, occurredAtMs, receivedAtMs },
    line: lineStartFrom(server) + eventTextFrom(event, kind) + lineEndFrom(ledger, kind),
  };
}

/** The values that the service adds. The events of a batch may share them: no two rows of a batch have the same identity. */
export function lineStartFrom({ project_id, agent_version_id, receivedAtMs }: ServerFields): string {
  const ids = `${JSON.stringify(project_id)},${JSON.stringify(agent_version_id)}`;
  return `[${ids},${receivedAtMs},${versionAt(receivedAtMs)},`;
}

/**
 * The part of a line that comes from the event itself. Times are milliseconds since the epoch, because ClickHouse reads a number as the
 * ticks of a DateTime64(3).
 */
export function eventTextFrom<E extends Event>(event: E, { fields }: RowKind<E>): string {
  const values: unknown[] = [];
  for (const field of fields) values.push(field === 'occurred_at' ? event.occurredAtMs : event[field]);
  return JSON.stringify(values).slice(1, -1);
}

/** The end of the line, after the event: values that no other event shares. */
export function lineEndFrom<E extends Event>(ledger: string, { isLogged }: RowKind<E>): string {
  return isLogged ? `,${ledger},"${nextSalt()}"]` : `,${ledger}]`;
}
