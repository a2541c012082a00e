import type { Logger } from 'pino';
import type { Connection } from '../store/connection.ts';
import type { Engines } from '../store/engines.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Pair, type Stream } from './identity.ts';

type ConflictOptions = { connection: Connection; engines: Engines; stream: Stream; logger: Logger };
type MarkRow = Pair & { times: string[] };
type EventRow = Pair & { day: string; version: string };

const RETRY_MS = 1000;
/** Rows that a DELETE has left where they were are taken out again, so often at once and then once in a while. */
const REMOVALS_MAX = 5;
/** What each failed flush left in doubt is asked for by itself: less often, so that a store that is away is left alone. */
const RETRY_LATER_MS = 30_000;
/** Identities that wait for a store that is away; beyond this many the oldest are let go. */
const UNCHECKED_MAX = 500_000;
/** A lost insert may still be carried out: after the server has let go of the connection, and long after. */
const DOUBT_AFTER_MS = [12_000, 65_000] as const;
/** Identities of one statement: a URL has to hold them. */
const REMOVED_TOGETHER_MAX = 500;

/**
 * Settles what two services on one store did at once: both looked, both found nothing, both wrote. Of the records of one
 * identity the first by received_at stays; the others are taken out, wherever they are.
 *
 * Every service marks its identities with its own number (`writer`) before it looks for the marks of others: so of two
 * that wrote at once, at least the one that looks last sees both. Which row stays hangs on the rows alone: two services
 * that settle one conflict do the same. All of it happens behind the answers.
 */
export class IdentityConflicts {
  readonly #options: ConflictOptions;
  #unchecked: Identity[] = [];
  #running: Promise<void> | undefined;
  #lastRemoval: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: ConflictOptions) {
    this.#options = options;
  }

  /** Looks for other writers of these, whose marks are durable. */
  check(identities: Identity[]): void {
    this.#unchecked = this.#unchecked.concat(identities).slice(-UNCHECKED_MAX);
    this.#running ??= this.#run();
  }

  /** Looks through what another writer may have left behind when it ended. */
  checkRecent(): void {
    this.#later(0, async () => {
      const { connection, stream } = this.#options;
      const contested = await connection.query<MarkRow>(sql('identities_contested_lately'), { stream });
      for (const some of chunksOf(contested))
        await this.#removeLate(
          some,
          some.flatMap(({ times }) => times),
        );
    });
  }

  /** Nobody knows whether these were written, and they may yet be: looks again later and tells which were. */
  doubt(identities: Identity[], onFound: (written: Identity[]) => void): void {
    for (const waitMs of DOUBT_AFTER_MS) {
      this.#later(waitMs, async () => onFound(await this.#settleDoubts(identities)));
    }
  }

  /** Looks once more: the other writer may have looked before the marks of this one were there. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#running;
  }

  /** Round by round, each with all that came during the one before. */
  async #run(): Promise<void> {
    while (this.#unchecked.length > 0) {
      const identities = this.#unchecked;
      this.#unchecked = [];
      try {
        await this.#settle(identities);
      } catch (error) {
        this.#options.logger.warn({ err: error }, 'Other writers could not be looked for yet');
        this.#later(RETRY_MS, async () => this.check(identities));
        break;
      }
    }
    this.#running = undefined;
  }

  /** Does the work after so long, and again until it has succeeded. */
  #later(waitMs: number, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work().catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'A conflict is not settled yet');
        this.#later(RETRY_LATER_MS, work);
      });
    }, waitMs).unref();
    this.#timers.add(timer);
  }

  /** Those that others have marked, too. */
  async #settle(identities: Identity[]): Promise<void> {
    for (const chunk of chunksOf(identities)) {
      const contested = await this.#marks(chunk, { writersMin: 2 });
      if (contested.length > 0)
        await this.#removeLate(
          contested,
          contested.flatMap(({ times }) => times),
        );
    }
  }

  /** All of them: this process itself may have written one twice. Resolves with those that are there. */
  async #settleDoubts(identities: Identity[]): Promise<Identity[]> {
    const found = new Set<string>();
    for (const chunk of chunksOf(identities)) {
      const times = (await this.#marks(chunk, { writersMin: 1 })).flatMap((row) => row.times);
      const own = chunk.map(({ occurredAtMs }) => clickhouseTime(occurredAtMs));
      const keys = await this.#removeLate(chunk, [...new Set([...own, ...times])]);
      for (const key of keys) found.add(key);
    }
    return identities.filter((identity) => found.has(keyOf(identity)));
  }

  #marks(chunk: Identity[], { writersMin }: { writersMin: number }): Promise<MarkRow[]> {
    const { connection, stream } = this.#options;
    const params = { stream, ...idsOf(chunk), writers_min: writersMin };
    return connection.query<MarkRow>(sql('identities_contested'), params);
  }

  /** Leaves of each identity the row that came first. Resolves with the keys of those that have rows. */
  #removeLate(identities: Pair[], times: string[]): Promise<Iterable<string>> {
    return this.#inTurn(async () => {
      for (let removals = 0; ; removals += 1) {
        const { firsts, late } = await this.#compare(identities, times);
        if (late.length === 0) return firsts.keys();
        if (removals === REMOVALS_MAX) throw new Error(`${late.length} rows are still there after DELETE`);
        for (const [day, rows] of Map.groupBy(late, (row) => row.day)) await this.#remove(day, rows);
      }
    });
  }

  /**
   * One at a time. ClickHouse may lose one of two DELETEs that run side by side, even on two partitions, and call it done
   * (https://github.com/Altinity/ClickHouse/issues/2331). Another service may run one, so the rows are looked for afterwards.
   */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const removal = this.#lastRemoval.then(work);
    this.#lastRemoval = removal.catch(() => undefined);
    return removal;
  }

  /** The versions of the rows that came first, by identity, and the rows that came later. */
  async #compare(
    identities: Pair[],
    times: string[],
  ): Promise<{ firsts: Map<string, string>; late: EventRow[] }> {
    const { connection, stream: table } = this.#options;
    const rows = await connection.query<EventRow>(sql('events_contested'), {
      table,
      ...idsOf(identities),
      times,
    });
    const wanted = new Set(identities.map(keyOf));
    const firsts = new Map<string, string>();
    for (const row of rows) {
      const first = firsts.get(keyOf(row));
      if (first === undefined || BigInt(row.version) > BigInt(first)) firsts.set(keyOf(row), row.version);
    }
    const late = rows.filter((row) => wanted.has(keyOf(row)) && firsts.get(keyOf(row)) !== row.version);
    return { firsts, late };
  }

  async #remove(day: string, rows: EventRow[]): Promise<void> {
    const { connection, engines, stream, logger } = this.#options;
    for (const some of chunksOf(rows, REMOVED_TOGETHER_MAX)) {
      await connection.command(engines.everywhere(sql('events_remove')), {
        table: engines.rowsOf(stream),
        day,
        project_ids: some.map(({ project_id }) => project_id),
        event_ids: some.map(({ event_id }) => event_id),
        versions: some.map(({ version }) => version),
      });
    }
    logger.info(
      { stream, day, rows: rows.length },
      'Rows of events that came first elsewhere were taken out',
    );
  }
}
