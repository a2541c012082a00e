import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Pair, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';

/** Beyond this many, the oldest are discarded. */
const ROWS_MAX = 200_000;

type UncertainInsertsOptions = { stream: Stream; connection: Connection; identities: IdentityIndex };

/** Rows of failed inserts that may have been written. */
export class UncertainInserts {
  readonly #options: UncertainInsertsOptions;
  #rows: Identity[] = [];

  constructor(options: UncertainInsertsOptions) {
    this.#options = options;
  }

  add(rows: Identity[]): void {
    this.#rows = this.#rows.concat(rows).slice(-ROWS_MAX);
    this.#options.identities.markUncertain(rows);
  }

  /** Finds out which rows were written. Runs before the next write, so that a repeated row finds its record. */
  async resolve(): Promise<void> {
    if (this.#rows.length === 0) return;
    await this.findWritten(this.#rows);
    this.#rows = [];
  }

  /** The keys of the rows that are in the event table. From now on, their identities are taken. */
  async findWritten(rows: Identity[]): Promise<Set<string>> {
    const { connection, stream: table, identities } = this.#options;
    const keys = new Set<string>();
    for (const chunk of chunksOf(rows)) {
      const times = chunk.map(({ occurredAtMs }) => occurredAtMs);
      const found = await connection.query<Pair>(sql('events_written'), {
        table,
        ...idsOf(chunk),
        from: clickhouseTime(Math.min(...times)),
        to: clickhouseTime(Math.max(...times)),
      });
      for (const row of found) keys.add(keyOf(row));
    }
    identities.add(rows.filter((row) => keys.has(keyOf(row))));
    return keys;
  }
}
