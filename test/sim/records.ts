import type { QueryParams } from '../../server/store/connection.ts';
import { sql } from '../../server/store/sql.ts';

const PROJECT = 'p';
/** Of two bodies of an identity, the first attempt must be kept, so its version is higher. */
const VERSION_FIRST = 1000;

/** The line of an event: its identity, and the attempt of its caller. */
export function lineOf(event_id: string, attempt: number): string {
  return `${event_id},${attempt}`;
}

/** Which rows the tables hold, and what the service's statements return for them. */
export class Records {
  /** How often each attempt of each event is stored. */
  readonly #events = new Map<string, Map<number, number>>();
  readonly #identities = new Set<string>();

  add(table: string, rows: string[]): void {
    for (const row of rows) {
      const [event_id = '', attempt] = row.split(',');
      if (table === 'event_identities') this.#identities.add(event_id);
      else {
        const tries = this.#events.get(event_id) ?? new Map<number, number>();
        tries.set(Number(attempt), (tries.get(Number(attempt)) ?? 0) + 1);
        this.#events.set(event_id, tries);
      }
    }
  }

  query(text: string, params: QueryParams): object[] {
    const ids = (params['event_ids'] ?? []) as string[];
    const pairs = (known: { has: (id: string) => boolean }) =>
      ids.filter((id) => known.has(id)).map((event_id) => ({ project_id: PROJECT, event_id }));
    if (text === sql('identities_known')) return pairs(this.#identities);
    if (text === sql('events_written')) return pairs(this.#events);
    if (text !== sql('events_contested')) return [];
    return pairs(this.#events).flatMap((pair) =>
      Array.from(this.#events.get(pair.event_id) ?? [], ([attempt]) => ({
        ...pair,
        day: '2026-01-01',
        version: String(VERSION_FIRST - attempt),
      })),
    );
  }

  remove(params: QueryParams): void {
    const versions = params['versions'] as string[];
    for (const [i, id] of (params['event_ids'] as string[]).entries())
      this.#events.get(id)?.delete(VERSION_FIRST - Number(versions[i]));
  }

  /** Acknowledged events that are missing; events with several bodies; rows that are stored twice, byte for byte. */
  compare(acknowledged: Iterable<string>): { lost: number; doubled: number; copies: number } {
    let [lost, doubled, copies] = [0, 0, 0];
    for (const id of acknowledged) if ((this.#events.get(id)?.size ?? 0) === 0) lost += 1;
    for (const tries of this.#events.values()) {
      if (tries.size > 1) doubled += 1;
      for (const times of tries.values()) copies += times - 1;
    }
    return { lost, doubled, copies };
  }
}
