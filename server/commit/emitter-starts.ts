import type { Logger } from 'pino';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { clickhouseDay } from '../store/time.ts';
import { DAY_MS } from '../durations.ts';

type Deps = { connection: Connection; ready: () => Promise<void>; logger: Logger; now: () => number };

/**
 * The days of records to read, counting back from today. Several, because some records arrive on their last day and a service may be down
 * for a few days.
 */
const DAYS_BACK = { first: 91, last: 85 } as const;
/** It reads much, and a start has more urgent work. */
const FIRST_AFTER_MS = 60_000;

/** Once a day, stores which senders have records that are about to expire. */
export class EmitterStarts {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setTimeout(() => {
      this.#timer = setInterval(() => this.#run(), DAY_MS).unref();
      this.#run();
    }, FIRST_AFTER_MS).unref();
  }

  /** Resolves when nothing is being written any more. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#running;
  }

  #run(): void {
    const { ready, logger } = this.#deps;
    this.#running = ready()
      .then(() => this.fill())
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'Senders of old records could not be stored; trying again in a day'),
      );
  }

  /** Resolves when the senders of all relevant days are durable. */
  async fill(): Promise<void> {
    const { connection, now } = this.#deps;
    const dayOf = (daysBack: number) => clickhouseDay(now() - daysBack * DAY_MS);
    const days = { first_day: dayOf(DAYS_BACK.first), last_day: dayOf(DAYS_BACK.last) };
    for (const table of ['decisions', 'llm_invocations'])
      await connection.command(sql('emitter_starts_fill'), { table, ...days });
  }
}
