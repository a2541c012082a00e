import type { Logger } from 'pino';
import { RETENTION_MS } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import type { Engines } from '../store/engines.ts';
import { sql } from '../store/sql.ts';
import { clickhouseTime } from '../store/time.ts';
import { LOOK_BACK_MS } from './fill-identities.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Pair, type Stream } from './identity.ts';
import { type LostRow, type Removal, removeRows } from './remove-rows.ts';

type ConflictOptions = {
  connection: Connection;
  engines: Engines;
  stream: Stream;
  logger: Logger;
  /** The log decides which row is kept. This only finds rows that were written after all. */
  isLogged?: boolean;
  now: () => number;
};
type MarkRow = Pair & { times: string[] };

const RETRY_MS = 1000;
/** Scheduled work retries less often, to spare a store that is down. */
const RETRY_LATER_MS = 30_000;
/** Rows that are still there after a removal are removed again at once, up to this many times. */
const REMOVALS_MAX = 5;
/** How many identities may wait while the store is down. Beyond that, the oldest are discarded. */
const UNRESOLVED_MAX = 500_000;
/** Soon enough that the search still begins before the records that lack their identities. */
const FILL_AFTER_MS = LOOK_BACK_MS / 2;
/** A lost insert may still be carried out: after the server has given up the connection, and much later. */
const UNCERTAIN_AFTER_MS = [12_000, 65_000] as const;

/**
 * Resolves conflicts between services on one store: both looked up an identity, found nothing, and wrote it. The record with the first
 * received_at is kept, the others are removed. This happens after the callers were answered. Every service marks its identities with its
 * own number (`writer`) before it looks for the marks of others. So of two services that wrote at the same time, at least the last one to
 * look sees both marks. The winner depends only on the rows, so two services that resolve the same conflict agree.
 */
export class IdentityConflicts {
  readonly #options: ConflictOptions;
  #unresolved: Identity[] = [];
  #running: Promise<void> | undefined;
  #lastRemoval: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  readonly #timers = new Set<NodeJS.Timeout>();

  constructor(options: ConflictOptions) {
    this.#options = options;
  }

  /** Looks for other writers of these identities, whose marks are durable. */
  resolve(identities: Identity[]): void {
    if (this.#options.isLogged === true) return;
    this.#unresolved = this.#unresolved.concat(identities).slice(-UNRESOLVED_MAX);
    this.#running ??= this.#run();
  }

  /**
   * Resolves conflicts that another writer may have left behind when it ended: now, and repeatedly after `fill`, which adds the identities
   * that it left out. The next start of that writer may come too late to find them.
   */
  resolveRecent(fill: () => Promise<void>): void {
    if (this.#options.isLogged === true) return;
    this.#schedule(0, async () => {
      const { connection, stream } = this.#options;
      const sqlText = sql('identities_contested_lately');
      await this.#removeMarked(await connection.query<MarkRow>(sqlText, { stream }));
    });
    this.#schedule(FILL_AFTER_MS, async () => {
      await fill();
      this.resolveRecent(fill);
    });
  }

  /** Checks later, repeatedly, whether these were written after all. `onFound` gets those that were. */
  resolveUncertain(identities: Identity[], onFound: (written: Identity[]) => void): void {
    for (const waitMs of UNCERTAIN_AFTER_MS)
      this.#schedule(waitMs, async () => onFound(await this.#removeDuplicates(identities)));
  }

  /** Finishes the running round: another writer may have looked before this one's marks were there. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#running;
  }

  /** Each round handles everything that arrived during the previous one. */
  async #run(): Promise<void> {
    while (this.#unresolved.length > 0) {
      const identities = this.#unresolved;
      this.#unresolved = [];
      try {
        for (const chunk of chunksOf(identities)) await this.#removeMarked(await this.#marks(chunk, 2));
      } catch (error) {
        this.#options.logger.warn({ err: error }, 'Cannot look for other writers yet');
        this.#schedule(RETRY_MS, async () => this.resolve(identities));
        break;
      }
    }
    this.#running = undefined;
  }

  /** Repeats the work until it succeeds. */
  #schedule(waitMs: number, work: () => Promise<void>): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work().catch((error: unknown) => {
        this.#options.logger.warn({ err: error }, 'Cannot resolve identity conflicts yet');
        this.#schedule(RETRY_LATER_MS, work);
      });
    }, waitMs).unref();
    this.#timers.add(timer);
  }

  async #removeMarked(marked: MarkRow[]): Promise<void> {
    for (const chunk of chunksOf(marked)) {
      const times = chunk.flatMap((row) => row.times);
      await this.#removeLate(chunk, times);
    }
  }

  /**
   * For all identities, whether or not others marked them: this process itself may have written one twice. Resolves with those that exist.
   */
  async #removeDuplicates(identities: Identity[]): Promise<Identity[]> {
    const found = new Set<string>();
    for (const chunk of chunksOf(identities)) {
      const times = (await this.#marks(chunk, 1)).flatMap((row) => row.times);
      const own = chunk.map(({ occurredAtMs }) => clickhouseTime(occurredAtMs));
      const keys = await this.#removeLate(chunk, [...new Set([...own, ...times])]);
      for (const key of keys) found.add(key);
    }
    return identities.filter((identity) => found.has(keyOf(identity)));
  }

  #marks(chunk: Identity[], writersMin: number): Promise<MarkRow[]> {
    const { connection, stream } = this.#options;
    const params = { stream, ...idsOf(chunk), writers_min: writersMin };
    return connection.query<MarkRow>(sql('identities_contested'), params);
  }

  /** Removes all rows of each identity but the first. Resolves with the keys of the identities that have rows. */
  #removeLate(identities: Pair[], times: string[]): Promise<Iterable<string>> {
    return this.#inTurn(async () => {
      for (let removals = 0; ; removals += 1) {
        const { firsts, late } = await this.#compare(identities, times);
        if (late.length === 0 || this.#options.isLogged === true) return firsts.keys();
        if (removals === REMOVALS_MAX)
          throw new Error(`${late.length} rows are still there after their removal`);
        await removeRows(late, this.#options);
      }
    });
  }

  /** One removal at a time; see `removeRows`. The rows are looked up afterwards. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const removal = this.#lastRemoval.then(work);
    this.#lastRemoval = removal.catch(() => undefined);
    return removal;
  }

  /** The first row of each identity, and all later rows. */
  async #compare(
    identities: Pair[],
    times: string[],
  ): Promise<{ firsts: Map<string, LostRow>; late: Removal[] }> {
    const { connection, stream: table, now } = this.#options;
    // The identity of an expired record is free again. Its row may still be there, but is no rival.
    const aliveSince = clickhouseTime(now() - RETENTION_MS);
    const params = { table, ...idsOf(identities), times: times.filter((time) => time >= aliveSince) };
    const rows = await connection.query<LostRow>(sql('events_contested'), params);
    const wanted = new Set(identities.map(keyOf));
    const firsts = new Map<string, LostRow>();
    for (const row of rows) {
      const first = firsts.get(keyOf(row));
      if (first === undefined || BigInt(row.version) > BigInt(first.version)) firsts.set(keyOf(row), row);
    }
    const late = rows.flatMap((row) => {
      const first = firsts.get(keyOf(row));
      const isLate = wanted.has(keyOf(row)) && first !== undefined && first.version !== row.version;
      return isLate ? [{ ...row, winnerDay: first.day }] : [];
    });
    return { firsts, late };
  }
}
