import { CLOSES_TOGETHER_MAX, CLOSES_WAITING_MAX } from '../limits.ts';
import type { BoundedStore } from '../store/bounded-store.ts';
import { sql } from '../store/sql.ts';
import { StoreError } from '../store/store-error.ts';
import { clickhouseTime } from '../store/time.ts';

/** The report of a sender that ends: its emitter, the kind of events, and how many it emitted, dropped and failed to send. */
type CloseReport = Emitter & { emitted: number; dropped: number; failed: number };
type Emitter = { project_id: string; stream: string; emitter: string };

type Waiting = { report: CloseReport; resolve: () => void; reject: (error: unknown) => void };

/**
 * Stores the first close report of each sender. A whole fleet may end at the same time, so reports that arrive together share an insert.
 */
export class EmitterCloses {
  readonly #store: BoundedStore;
  readonly #now: () => number;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor({ store, now }: { store: BoundedStore; now: () => number }) {
    this.#store = store;
    this.#now = now;
  }

  /** Resolves when the report, or an earlier one of the sender, is durable. Rejects with store_unavailable or overloaded. */
  write(report: CloseReport): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= CLOSES_WAITING_MAX)
        throw new StoreError('overloaded', 'Too many senders are closing. Try again.');
      this.#waiting.push({ report, resolve, reject });
      if (!this.#isRunning) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const together = this.#waiting.splice(0, CLOSES_TOGETHER_MAX);
      try {
        await this.#insert(together.map(({ report }) => report));
        for (const { resolve } of together) resolve();
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #insert(reports: CloseReport[]): Promise<void> {
    const project_ids = [...new Set(reports.map(({ project_id }) => project_id))];
    const emitters = reports.map(({ emitter }) => emitter);
    const closed = await this.#store.query<Emitter>(sql('emitters_closed'), { project_ids, emitters });
    const taken = new Set(closed.map(keyOf));
    const received_at = clickhouseTime(this.#now());
    const values = reports.flatMap((report) => {
      if (taken.has(keyOf(report))) return [];
      taken.add(keyOf(report));
      const { project_id, stream, emitter, emitted, dropped, failed } = report;
      return [{ project_id, stream, emitter, received_at, emitted, dropped, failed }];
    });
    await this.#store.append({ table: 'emitter_closes', values });
  }
}

function keyOf({ project_id, stream, emitter }: Emitter): string {
  return `${emitter} ${stream} ${project_id}`;
}
