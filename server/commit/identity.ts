/** The table that holds the events. */
export type Stream = 'decisions' | 'llm_invocations';

/** What identifies an event. */
export type Pair = { project_id: string; event_id: string };

/** The identity of a stored event, with the times that bound its search and its life. */
export type Identity = Pair & { occurredAtMs: number; receivedAtMs: number };

/** Identities in one statement: ClickHouse accepts 128 KiB per parameter over HTTP. */
const CHUNK_ROWS = 2000;

/** Splits a list into pieces that are small enough for one statement. */
export function* chunksOf<T>(list: T[], size = CHUNK_ROWS): Generator<T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

/** Identities as statement parameters. */
export function idsOf(identities: Pair[]): { project_ids: string[]; event_ids: string[] } {
  return {
    project_ids: [...new Set(identities.map(({ project_id }) => project_id))],
    event_ids: identities.map(({ event_id }) => event_id),
  };
}

export function keyOf({ project_id, event_id }: Pair): string {
  return `${project_id} ${event_id}`;
}
