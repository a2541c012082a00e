import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '../errors.ts';
import { QUEUE_WAIT_MS_MAX, WRITE_WAIT_MS_MAX } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { sql } from '../store/sql.ts';
import { storeErrorFrom } from '../store/store-error.ts';
import { clickhouseTime } from '../store/time.ts';
import { FlushPace } from './flush-pace.ts';
import { chunksOf, idsOf, type Identity, keyOf, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';

/** An event on its way to the store: its identity and its row as a line of JSONCompactEachRow. */
export type Entry = { identity: Identity; line: string };

/** What became of a write: this row is the record, or there was one before it. */
export type WriteResult = 'accepted' | 'duplicate';

type Waiter = {
  key: string;
  entry: Entry;
  sinceMs: number;
  isSettled: boolean;
  followers: Follower[];
  resolve: (result: WriteResult) => void;
  reject: (error: RequestError) => void;
};
type Follower = Pick<Waiter, 'entry' | 'resolve' | 'reject'>;

export type GroupCommitOptions = {
  stream: Stream;
  columns: readonly string[];
  connection: Connection;
  identities: IdentityIndex;
  /** Resolves when the store may be written to. */
  ready: () => Promise<void>;
  batchRowsMax: number;
  queueRowsMax: number;
  queueBytesMax: number;
  onFlush: (flush: { rows: number; seconds: number }) => void;
  onQueue: (rows: number) => void;
};

const BATCH_BYTES_MAX = 32 * 1024 * 1024;
const RETRY_AFTER_MS = [50, 300] as const;
const SWEEP_EVERY_MS = 250;
/** Rows whose outcome is unknown are asked for before the next write; beyond this many the oldest are let go. */
const UNCLEAR_MAX = 200_000;

/**
 * Writes events in groups: what arrives while a flush runs shares the next one. `write` resolves when the row is
 * durable, and rejects with row_rejected for the guilty row only, store_unavailable, or overloaded at once when the
 * queue is full. The first write of an identity wins; later ones resolve as duplicates once the first is durable.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #pace = new FlushPace();
  /** By identity: everything queued or being flushed. */
  readonly #pending = new Map<string, Waiter>();
  #queue: Waiter[] = [];
  #queueBytes = 0;
  #unclear: Identity[] = [];
  #running: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #gatherRows = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  write(entry: Entry): Promise<WriteResult> {
    const key = keyOf(entry.identity);
    return new Promise((resolve, reject) => {
      const first = this.#pending.get(key);
      if (first !== undefined) {
        first.followers.push({ entry, resolve, reject });
        return;
      }
      if (this.#isFull()) {
        reject(new RequestError('overloaded', 'The write queue is full. Try again.'));
        return;
      }
      this.#enqueue({ key, entry, sinceMs: Date.now(), isSettled: false, followers: [], resolve, reject });
    });
  }

  /** Resolves when everything accepted so far is settled. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Full is what would keep a row waiting for long, too: no 503 after a wait where one can be given at once. */
  #isFull(): boolean {
    const { queueRowsMax, queueBytesMax, batchRowsMax } = this.#options;
    const rows = this.#queue.length;
    if (rows >= queueRowsMax || this.#queueBytes >= queueBytesMax) return true;
    // Behind the flush that runs, and those before its own.
    return rows >= batchRowsMax && this.#pace.flushMs * (rows / batchRowsMax + 1) > QUEUE_WAIT_MS_MAX;
  }

  #enqueue(waiter: Waiter): void {
    this.#pending.set(waiter.key, waiter);
    this.#queue.push(waiter);
    this.#queueBytes += waiter.entry.line.length;
    this.#options.onQueue(this.#queue.length);
    this.#sweep ??= setInterval(() => this.#giveUpOnOld(), SWEEP_EVERY_MS).unref();
    if (this.#gathered !== undefined && this.#queue.length >= this.#gatherRows) this.#gathered();
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Lets everything that arrived in this turn of the event loop join the first flush.
    await new Promise(setImmediate);
    while (this.#queue.length > 0) {
      await this.#gather();
      const batch = this.#takeBatch();
      const startMs = performance.now();
      await this.#flush(batch);
      const tookMs = performance.now() - startMs;
      this.#options.onFlush({ rows: batch.length, seconds: tookMs / 1000 });
      this.#pace.flushed({
        rows: batch.length,
        queued: this.#queue.length,
        tookMs,
        nowMs: performance.now(),
      });
      if (this.#queue.length === 0) await new Promise(setImmediate);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    const { rows, waitMs } = this.#pace.plan(performance.now());
    this.#gatherRows = Math.min(rows, this.#options.batchRowsMax);
    if (this.#queue.length >= this.#gatherRows || waitMs < 1) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      // Starts at once, not after the burst: the engine works on these rows while the next requests are read.
      this.#gathered = () => {
        clearTimeout(timer);
        this.#gathered = undefined;
        resolve();
      };
    });
    this.#gathered = undefined;
  }

  #takeBatch(): Waiter[] {
    let bytes = 0;
    let rows = 0;
    const rowsMax = Math.min(this.#queue.length, this.#options.batchRowsMax);
    while (rows < rowsMax && (rows === 0 || bytes < BATCH_BYTES_MAX)) {
      bytes += this.#queue[rows]?.entry.line.length ?? 0;
      rows += 1;
    }
    const batch = this.#queue.slice(0, rows);
    this.#queue = this.#queue.slice(rows);
    this.#queueBytes -= bytes;
    this.#options.onQueue(this.#queue.length);
    return batch;
  }

  async #flush(batch: Waiter[]): Promise<void> {
    const { identities, ready } = this.#options;
    try {
      await ready();
      await identities.open();
      await this.#clearUp();
      const known = await identities.findKnown(batch.map(({ entry }) => entry.identity));
      const fresh: Waiter[] = [];
      for (const waiter of batch) {
        if (known.has(waiter.key)) this.#settle(waiter, 'duplicate');
        else fresh.push(waiter);
      }
      if (fresh.length > 0) await this.#insert(fresh, randomUUID());
    } catch (error) {
      const fault = storeErrorFrom(error);
      for (const waiter of batch)
        this.#fail(waiter, fault.code === 'row_rejected' ? unavailable(fault) : fault);
    }
  }

  async #insert(waiters: Waiter[], token: string): Promise<void> {
    const { stream, columns, connection, identities } = this.#options;
    try {
      await connection.insert({
        table: stream,
        columns,
        lines: waiters.map(({ entry }) => entry.line),
        token,
      });
    } catch (error) {
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return this.#isolate(waiters, fault);
      return this.#recover(waiters, { token, fault });
    }
    identities.add(waiters.map(({ entry }) => entry.identity));
    for (const waiter of waiters) this.#settle(waiter, 'accepted');
  }

  /** Halves the batch until the row that the store refuses stands alone; its neighbours are written. */
  async #isolate(waiters: Waiter[], fault: RequestError): Promise<void> {
    const [only] = waiters;
    if (waiters.length === 1 && only !== undefined) return this.#fail(only, fault);
    const half = waiters.length >> 1;
    await this.#insert(waiters.slice(0, half), randomUUID());
    await this.#insert(waiters.slice(half), randomUUID());
  }

  /** The insert failed and nobody knows whether rows were written: look, and write again what is missing. */
  async #recover(waiters: Waiter[], { token, fault }: { token: string; fault: RequestError }): Promise<void> {
    const { stream, columns, connection, identities } = this.#options;
    let missing = waiters;
    for (const waitMs of RETRY_AFTER_MS) {
      await sleep(waitMs);
      try {
        missing = await this.#settleWritten(missing);
        if (missing.length > 0) {
          await connection.insert({
            table: stream,
            columns,
            lines: missing.map(({ entry }) => entry.line),
            token,
          });
          identities.add(missing.map(({ entry }) => entry.identity));
          for (const waiter of missing) this.#settle(waiter, 'accepted');
        }
        return;
      } catch (error) {
        if (storeErrorFrom(error).code === 'row_rejected')
          return this.#isolate(missing, storeErrorFrom(error));
      }
    }
    const unclear = missing.map(({ entry }) => entry.identity);
    this.#unclear = this.#unclear.concat(unclear).slice(-UNCLEAR_MAX);
    identities.doubt(unclear);
    for (const waiter of missing) this.#fail(waiter, fault);
  }

  async #settleWritten(waiters: Waiter[]): Promise<Waiter[]> {
    const written = await this.#findWritten(waiters.map(({ entry }) => entry.identity));
    this.#options.identities.add(
      waiters.filter(({ key }) => written.has(key)).map(({ entry }) => entry.identity),
    );
    for (const waiter of waiters) if (written.has(waiter.key)) this.#settle(waiter, 'accepted');
    return waiters.filter(({ key }) => !written.has(key));
  }

  /** Finds out about the rows of failed inserts before anything else is written, so that a re-post meets its record. */
  async #clearUp(): Promise<void> {
    if (this.#unclear.length === 0) return;
    const unclear = this.#unclear;
    const written = await this.#findWritten(unclear);
    this.#options.identities.add(unclear.filter((identity) => written.has(keyOf(identity))));
    this.#unclear = [];
  }

  async #findWritten(identities: Identity[]): Promise<Set<string>> {
    const { connection, stream: table } = this.#options;
    const keys = new Set<string>();
    for (const chunk of chunksOf(identities)) {
      const times = chunk.map(({ occurredAtMs }) => occurredAtMs);
      const rows = await connection.query<Pick<Identity, 'project_id' | 'event_id'>>(sql('events_written'), {
        table,
        ...idsOf(chunk),
        from: clickhouseTime(times.reduce((a, b) => Math.min(a, b))),
        to: clickhouseTime(times.reduce((a, b) => Math.max(a, b))),
      });
      for (const row of rows) keys.add(keyOf(row));
    }
    return keys;
  }

  #settle(waiter: Waiter, result: WriteResult): void {
    this.#pending.delete(waiter.key);
    for (const follower of waiter.followers) follower.resolve('duplicate');
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.resolve(result);
  }

  #fail(waiter: Waiter, fault: RequestError): void {
    // Settled by success already: this batch failed for its other rows.
    if (this.#pending.get(waiter.key) !== waiter) return;
    this.#pending.delete(waiter.key);
    for (const { entry, resolve, reject } of waiter.followers) {
      // A refused row says nothing of the next one with its id: that one is tried on its own.
      if (fault.code === 'row_rejected') this.write(entry).then(resolve, reject);
      else reject(fault);
    }
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.reject(fault);
  }

  /** Answers callers whose time is up. Rows in the queue are let go; rows in a flush may still be written. */
  #giveUpOnOld(): void {
    const sinceMs = Date.now() - WRITE_WAIT_MS_MAX;
    const fault = unavailable(undefined);
    this.#queue = this.#queue.filter((waiter) => {
      if (waiter.sinceMs > sinceMs) return true;
      this.#queueBytes -= waiter.entry.line.length;
      this.#fail(waiter, fault);
      return false;
    });
    for (const waiter of this.#pending.values()) {
      if (waiter.sinceMs > sinceMs || waiter.isSettled) continue;
      waiter.isSettled = true;
      waiter.reject(fault);
      for (const { reject } of waiter.followers.splice(0)) reject(fault);
    }
    if (this.#pending.size === 0) {
      clearInterval(this.#sweep);
      this.#sweep = undefined;
    }
  }
}

function unavailable(cause: unknown): RequestError {
  return new RequestError('store_unavailable', 'The store did not take the record in time. Send it again.', {
    cause,
  });
}
