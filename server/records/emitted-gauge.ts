import type { Logger } from 'pino';
import type { Gauge } from 'prom-client';
import { sql } from '../store/sql.ts';
import { clickhouseSeconds } from '../store/time.ts';
import { countsOf } from './completeness.ts';
import type { AuditReads } from './days.ts';
import { NO_FILTERS } from './filters.ts';
import { hourOf, type Stream, STREAMS } from './ledger.ts';
import { readRange } from './window.ts';
import { HOUR_MS } from '../durations.ts';

type Options = { reads: AuditReads; gauge: Gauge<'stream' | 'state'>; logger: Logger };

const EVERY_MS = 5 * 60_000;
/** The counts may take no more than this share of the time. */
const SHARE_MAX = 1 / 20;

/**
 * Sets the gauge of emitted events by their outcome, for the last full hour and all projects together, counted in the same way as in the
 * reads. The current hour is left out, because its events are still on their way.
 */
export class EmittedGauge {
  readonly #options: Options;
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #updating: Promise<void> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  start(): void {
    this.#updating = this.#updateRepeatedly();
  }

  /** Resolves when no statement runs any more. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#updating;
  }

  /** Resolves when the gauge is up to date. */
  async update(): Promise<void> {
    const { gauge } = this.#options;
    for (const stream of STREAMS)
      for (const [state, count] of Object.entries(await this.#countsOf(stream)))
        gauge.set({ stream, state }, Number(count));
  }

  async #updateRepeatedly(): Promise<void> {
    const { gauge, logger } = this.#options;
    const { signal } = this.#ending;
    const startMs = performance.now();
    try {
      await this.update();
    } catch (error) {
      if (signal.aborted) return;
      // The old counts are no longer true.
      gauge.reset();
      logger.warn({ err: error }, 'Lost events cannot be counted; trying again later');
    }
    if (signal.aborted) return;
    const tookMs = performance.now() - startMs;
    this.#timer = setTimeout(() => this.start(), Math.max(EVERY_MS, tookMs / SHARE_MAX)).unref();
  }

  async #countsOf(stream: Stream) {
    const { reads } = this.#options;
    const { signal } = this.#ending;
    const window = lastFullHour(reads.now());
    const asked = { table: stream, from_hour: clickhouseSeconds(window.sinceMs) };
    const projects = await reads.runRead<{ project_id: string }>(sql('ledger_projects'), asked, signal);
    const all = { received: 0n, dropped: 0n, missing: 0n };
    for (const { project_id: projectId } of projects) {
      signal.throwIfAborted();
      const scope = { projectId, window, filters: NO_FILTERS, signal };
      const { received, dropped, missing } = await countsOf(reads, scope, [stream]);
      all.received += received;
      all.dropped += dropped;
      all.missing += missing;
    }
    return all;
  }
}

function lastFullHour(nowMs: number) {
  const [from, to] = [hourOf(nowMs) - HOUR_MS, hourOf(nowMs)].map((ms) => new Date(ms).toISOString());
  return readRange({ from, to }, nowMs);
}
