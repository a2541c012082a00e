import { after } from './virtual-time.ts';

/** Rows of one insert, and how many events they represent. */
export type Insert = { rows: string[]; events: number };
type Options = { waitMs: number; eventsMax: number; write: (insert: Insert) => Promise<void> };

/** The queue of async_insert for one table on one node, without the adaptive wait. */
export class Gatherer {
  readonly #options: Options;
  #gathered: Insert = { rows: [], events: 0 };
  #written = Promise.withResolvers<void>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Resolves when the part with these rows is written. */
  add({ rows, events }: Insert): Promise<void> {
    const { waitMs, eventsMax } = this.#options;
    const { promise } = this.#written;
    const gathered = this.#gathered;
    if (gathered.events === 0) after(waitMs, () => this.#gathered === gathered && this.#flush());
    for (const row of rows) gathered.rows.push(row);
    gathered.events += events;
    if (gathered.events >= eventsMax) this.#flush();
    return promise;
  }

  #flush(): void {
    const [gathered, written] = [this.#gathered, this.#written];
    this.#gathered = { rows: [], events: 0 };
    this.#written = Promise.withResolvers();
    this.#options.write(gathered).then(written.resolve, written.reject);
  }
}
