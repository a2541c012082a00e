/** The table that holds the events. */
export type Stream = 'decisions' | 'llm_invocations';

/** The key of an event. */
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

/** A map by identity, in two steps: joining both texts into one key would cost more than all other work on it. */
export class PairMap<T> {
  readonly #projects = new Map<string, Map<string, T>>();
  size = 0;

  get({ project_id, event_id }: Pair): T | undefined {
    return this.#projects.get(project_id)?.get(event_id);
  }

  set({ project_id, event_id }: Pair, value: T): void {
    let events = this.#projects.get(project_id);
    if (events === undefined) this.#projects.set(project_id, (events = new Map()));
    const before = events.size;
    events.set(event_id, value);
    this.size += events.size - before;
  }

  delete({ project_id, event_id }: Pair): void {
    const events = this.#projects.get(project_id);
    if (events?.delete(event_id) !== true) return;
    this.size -= 1;
    if (events.size === 0) this.#projects.delete(project_id);
  }

  *entries(): Generator<[Pair, T]> {
    for (const [project_id, events] of this.#projects)
      for (const [event_id, value] of events) yield [{ project_id, event_id }, value];
  }
}
