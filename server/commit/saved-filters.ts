import type { Logger } from 'pino';
import { DAY_MS } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import type { Handover } from '../store/handover.ts';
import { sql } from '../store/sql.ts';
import { type EventsState, readFilterFile, writeFilterFile } from './filter-file.ts';
import type { Stream } from './identity.ts';
import type { IdentityFilter } from './identity-filter.ts';

/** A stop must end within 10 s, and what comes before may have taken 5 s of them. */
const SAVE_MS_MAX = 3000;
/** Then the filter is filled anew, without the identities that have expired since. */
const AGE_MS_MAX = 30 * DAY_MS;

type SavedFiltersOptions = {
  handover: Handover;
  connection: Connection;
  logger: Logger;
  now: () => number;
};

/**
 * Keeps the filters of the two streams across a clean stop. A filter that lacks a living identity would let it be written
 * twice. So a file is used only if the store still has the same newest blocks as when it was saved.
 */
export class SavedFilters {
  readonly #options: SavedFiltersOptions;
  #stateAtStart: Promise<EventsState> | undefined;

  constructor(options: SavedFiltersOptions) {
    this.#options = options;
  }

  /** The filter that the last process saved. Undefined when there is none, or when it may lack an identity. */
  async take(stream: Stream): Promise<IdentityFilter | undefined> {
    const { handover, logger, now } = this.#options;
    const file = handover.take(nameOf(stream));
    if (file === undefined) return undefined;
    const startMs = performance.now();
    try {
      // Once, before either stream writes: each writes to event_identities.
      const state = await (this.#stateAtStart ??= this.#state());
      const belonging = { stream, state, nowMs: now(), ageMsMax: AGE_MS_MAX };
      const taken = await readFilterFile(file, belonging);
      const { keys } = taken.filter;
      const ms = Math.round(performance.now() - startMs);
      logger.info({ stream, identities: keys, ms }, 'The identity filter of the last run is used');
      return taken;
    } catch (error) {
      const reason = (error as Error).message;
      logger.info({ stream, reason }, 'The identity filter of the last run is not used; it is filled anew');
      return undefined;
    } finally {
      await file.close();
    }
  }

  /** Saves the filters that are complete. Never rejects: the next start can do without. */
  async save(filters: Record<Stream, IdentityFilter | undefined>): Promise<void> {
    const { logger } = this.#options;
    const signal = AbortSignal.timeout(SAVE_MS_MAX);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    try {
      await Promise.race([this.#saveAll(filters, signal), late]);
    } catch (error) {
      logger.warn({ err: error }, 'The identity filter was not saved; the next start fills it');
    }
  }

  async #saveAll(filters: Record<Stream, IdentityFilter | undefined>, signal: AbortSignal): Promise<void> {
    const { handover, now } = this.#options;
    const nowMs = now();
    const complete = Object.entries(filters).filter(([, filter]) => filter?.isComplete) as [
      Stream,
      IdentityFilter,
    ][];
    const young = complete.filter(([, { filledAtMs = 0 }]) => nowMs - filledAtMs < AGE_MS_MAX);
    if (young.length === 0) return;
    const state = await this.#state();
    for (const [stream, filter] of young)
      await handover.leave(
        nameOf(stream),
        (file) => writeFilterFile(file, filter, { stream, state, nowMs, signal }),
        signal,
      );
  }

  async #state(): Promise<EventsState> {
    const rows = await this.#options.connection.query<{ place: string; newest: string }>(sql('events_state'));
    return Object.fromEntries(rows.map(({ place, newest }) => [place, newest]));
  }
}

function nameOf(stream: Stream): string {
  return `identities-${stream}`;
}
