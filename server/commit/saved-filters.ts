import type { Logger } from 'pino';
import type { Connection } from '../store/connection.ts';
import type { Handover } from '../store/handover.ts';
import { sql } from '../store/sql.ts';
import { type EventsState, openFilterFile, writeFilterFile } from './filter-file.ts';
import type { Stream } from './identity.ts';
import { IdentityFilter, type SavedFilter } from './identity-filter.ts';
import { DAY_MS } from '../durations.ts';

/** A stop must end within 10 s, and the previous steps may have taken 5 s of them. */
const SAVE_MS_MAX = 3000;
/** The filter is then filled again, without the identities that have expired since. */
const AGE_MS_MAX = 30 * DAY_MS;
const GROWN_CHECK_MS = 2000;
/** A start after a crash reads the identities since the last save: at most about this share, or this many. */
const GROWN_SHARE = 0.1;
const GROWN_KEYS = 250_000;

type Filters = Record<Stream, IdentityFilter | undefined>;

/** A filter that the last process saved. `read` resolves with undefined if it cannot be used after all. */
export type TakenFilter = Pick<SavedFilter, 'lacks'> & {
  read: (signal: AbortSignal) => Promise<IdentityFilter | undefined>;
};

type SavedFiltersOptions = { handover: Handover; connection: Connection; logger: Logger; now: () => number };

/**
 * Keeps the filters of the two streams for the next start. A filter that lacks a living identity would let it be written twice. So the file
 * of a clean stop is used unchanged only by the next process, and only if the store still has the same newest blocks as when it was saved.
 * Any other file is used together with the identities of all later blocks.
 */
export class SavedFilters {
  readonly #options: SavedFiltersOptions;
  #stateAtStart: Promise<EventsState> | undefined;
  readonly #savedKeys = new Map<Stream, number>();
  #savedAtMs = 0;
  readonly #closing = new AbortController();
  #saving: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SavedFiltersOptions) {
    this.#options = options;
  }

  /** The filter that the last process saved, not yet read. Undefined if there is none that can be used. */
  async take(stream: Stream): Promise<TakenFilter | undefined> {
    const { handover, logger, now } = this.#options;
    const taken = handover.take(nameOf(stream));
    if (taken === undefined) return undefined;
    const { file, isFinal } = taken;
    const refuse = async ({ name, message: reason }: Error) => {
      await file.close();
      if (name === 'AbortError') return undefined;
      // A file that does not fit the store now could seem to fit it later. If it cannot be removed, the next start checks it again.
      await handover.remove(nameOf(stream)).catch(() => undefined);
      this.#savedKeys.delete(stream);
      logger.info(
        { stream, reason },
        'The saved identity filter is not used; the filter is filled from the store',
      );
      return undefined;
    };
    try {
      // Called once, before either stream writes: each of them writes to event_identities.
      const state = await (this.#stateAtStart ??= this.#state());
      const reader = { stream, state, nowMs: now(), isFinal, ageMsMax: AGE_MS_MAX };
      const { readFilter, keys, savedAtMs, ...saved } = await openFilterFile(file, reader);
      // The file stays for the next process until the filter has grown.
      this.#savedKeys.set(stream, keys);
      this.#savedAtMs = Math.max(this.#savedAtMs, savedAtMs);
      const read = async (signal: AbortSignal) => {
        const startMs = performance.now();
        const filter = await readFilter(signal);
        await file.close();
        const ms = Math.round(performance.now() - startMs);
        const text = 'The identity filter of the last run is used';
        logger.info(
          { stream, identities: filter.keys, ms },
          saved.lacks === undefined ? text : `${text}, with what came since`,
        );
        return new IdentityFilter({ filter, ...saved });
      };
      return { lacks: saved.lacks, read: (signal) => read(signal).catch(refuse) };
    } catch (error) {
      return refuse(error as Error);
    }
  }

  /**
   * Saves each filter that is complete and has no file, and again whenever it has grown. `copied` resolves when all identities in them are
   * in the store.
   */
  keep(filters: () => Filters, copied: () => Promise<unknown>): void {
    this.#timer = setInterval(() => {
      this.#saving ??= this.#saveGrown(filters(), copied).finally(() => (this.#saving = undefined));
    }, GROWN_CHECK_MS).unref();
  }

  /** Saves the filters of a clean stop. Never rejects: the next start works without them. */
  async saveLast(filters: Filters): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    const signal = AbortSignal.timeout(SAVE_MS_MAX);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    try {
      await Promise.race([this.#saving, late]);
      await Promise.race([this.#save(filters, { isFinal: true, signal }), late]);
    } catch (error) {
      this.#warn(error);
    }
  }

  async #saveGrown(filters: Filters, copied: () => Promise<unknown>): Promise<void> {
    // If the clock was set back since the save, a later start would begin its search too late.
    if (this.#options.now() < this.#savedAtMs) this.#savedKeys.clear();
    const isGrown = ([stream, filter]: [string, IdentityFilter | undefined]) => {
      const saved = this.#savedKeys.get(stream as Stream);
      const keys = filter?.filter.keys ?? 0;
      return saved === undefined || keys - saved >= Math.max(GROWN_KEYS, saved * GROWN_SHARE);
    };
    const grown = Object.fromEntries(Object.entries(filters).filter(isGrown)) as Filters;
    const { signal } = this.#closing;
    try {
      await this.#save(grown, { isFinal: false, copied, signal });
    } catch (error) {
      if (!signal.aborted) this.#warn(error);
    }
  }

  #warn(error: unknown): void {
    const { logger } = this.#options;
    logger.warn({ err: error }, 'The identity filter was not saved; the next start takes longer to fill it');
  }

  async #save(
    filters: Filters,
    { isFinal, copied, signal }: { isFinal: boolean; copied?: () => Promise<unknown>; signal: AbortSignal },
  ): Promise<void> {
    const { handover, now } = this.#options;
    const nowMs = (this.#savedAtMs = now());
    const complete = Object.entries(filters).filter(([, filter]) => filter?.isComplete) as [
      Stream,
      IdentityFilter,
    ][];
    const young = complete.filter(([, { filledAtMs = 0 }]) => nowMs - filledAtMs < AGE_MS_MAX);
    for (const [stream, { filter }] of young) this.#savedKeys.set(stream, filter.keys);
    if (young.length === 0) return;
    // After the time and before the state: a start after a crash looks back from that time for identities that were not copied.
    await copied?.();
    // Before the filters: each identity was in its filter before a block held it.
    const state = await this.#state();
    for (const [stream, filter] of young) {
      // Others may have begun to write in the meantime, see IdentityIndex.aside: the state has blocks that the filter lacks.
      if (!filter.isComplete) {
        this.#savedKeys.delete(stream);
        continue;
      }
      await handover.leave(
        nameOf(stream),
        (file) => writeFilterFile(file, filter, { stream, state, nowMs, signal }),
        { isFinal, signal },
      );
    }
  }

  async #state(): Promise<EventsState> {
    const rows = await this.#options.connection.query<{ place: string; newest: string }>(sql('events_state'));
    return Object.fromEntries(rows.map(({ place, newest }) => [place, newest]));
  }
}

function nameOf(stream: Stream): string {
  return `identities-${stream}`;
}
