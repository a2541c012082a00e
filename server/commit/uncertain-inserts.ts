import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';

/** Beyond this many the oldest are let go. */
const ROWS_MAX = 200_000;

type UnclearRowsOptions = { stream: Stream; connection: Connection; identities: IdentityIndex };

/** Rows of inserts that failed without saying whether they were written. The event table knows. */
export class UncertainInserts {
  readonly #options: UnclearRowsOptions;
  #rows: Identity[] = [];

  constructor(options: UnclearRowsOptions) {
    this.#options = options;
  }

  /** Keeps rows whose outcome could not be found out. */
  add(rows: Identity[]): void {
    this.#rows = this.#rows.concat(rows).slice(-ROWS_MAX);
    this.#options.identities.doubt(rows);
  }

  /** Finds out about the rows that were kept; before anything else is written, so that a re-post meets its record. */
  async settle(): Promise<void> {
    if (this.#rows.length === 0) return;
    await this.findWritten(this.#rows);
    this.#rows = [];
  }

  /** The keys of the rows that are in the event table; those identities are taken from now on. */
  async findWritten(rows: Identity[]): Promise<Set<string>> {
    const { connection, stream: table, identities } = this.#options;
    const keys = new Set<string>();
    for (const chunk of chunksOf(rows)) {
      const times = chunk.map(({ occurredAtMs }) => occurredAtMs);
      const found = await connection.query<Pick<Identity, 'project_id' | 'event_id'>>(sql('events_written'), {
        table,
        ...idsOf(chunk),
        from: clickhouseTime(times.reduce((a, b) => Math.min(a, b))),
        to: clickhouseTime(times.reduce((a, b) => Math.max(a, b))),
      });
      for (const row of found) keys.add(keyOf(row));
    }
    identities.add(rows.filter((row) => keys.has(keyOf(row))));
    return keys;
  }
}
