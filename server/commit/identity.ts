/** What makes an event one event, and how long the store keeps it. */
export type Identity = { project_id: string; event_id: string; occurredAtMs: number; receivedAtMs: number };

/** The table that holds the events. */
export type Stream = 'decisions' | 'llm_invocations';

/** Identities of one statement: ClickHouse takes 128 KiB a parameter over HTTP. */
const ASKED_TOGETHER_MAX = 2000;

/** Pieces of a list that are small enough for one statement. */
export function* chunksOf<T>(list: T[], size = ASKED_TOGETHER_MAX): Generator<T[]> {
  for (let from = 0; from < list.length; from += size) yield list.slice(from, from + size);
}

export type Pair = { project_id: string; event_id: string };

/** Which identities a statement asks for. */
export function idsOf(identities: Pair[]): { project_ids: string[]; event_ids: string[] } {
  return {
    project_ids: [...new Set(identities.map(({ project_id }) => project_id))],
    event_ids: identities.map(({ event_id }) => event_id),
  };
}

export function keyOf({ project_id, event_id }: Pair): string {
  return `${project_id} ${event_id}`;
}
