import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { RequestError } from '../errors.ts';
import { WRITE_WAIT_MS_MAX } from '../limits.ts';
import type { Connection } from '../store/connection.ts';
import { storeErrorFrom } from '../store/store-error.ts';
import { FlushPace } from './flush-pace.ts';
import { keyOf, type Stream } from './identity.ts';
import type { IdentityIndex } from './identity-index.ts';
import { UncertainInserts } from './uncertain-inserts.ts';
import { type Entry, type QueueBounds, type Waiter, WriteQueue, type WriteResult } from './write-queue.ts';

export type GroupCommitOptions = QueueBounds & {
  stream: Stream;
  columns: readonly string[];
  connection: Connection;
  identities: IdentityIndex;
  /** Resolves when the store may be written to. */
  ready: () => Promise<void>;
  onFlush: (flush: { rows: number; seconds: number }) => void;
  onQueue: (rows: number) => void;
};

const RETRY_AFTER_MS = [50, 300] as const;
const SWEEP_EVERY_MS = 250;

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
  readonly #queue: WriteQueue;
  readonly #unclear: UncertainInserts;
  #running: Promise<void> | undefined;
  #gathered: (() => void) | undefined;
  #gatherRows = 0;
  #sweep: NodeJS.Timeout | undefined;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
    this.#queue = new WriteQueue(options, options.onQueue);
    this.#unclear = new UncertainInserts(options);
  }

  /** sinceMs: when the caller's wait began, by performance.now(). */
  write(entry: Entry, sinceMs = performance.now()): Promise<WriteResult> {
    const key = keyOf(entry.identity);
    return new Promise((resolve, reject) => {
      if (this.#queue.isFull(this.#pace.flushMs)) {
        reject(new RequestError('overloaded', 'The write queue is full. Try again.'));
        return;
      }
      const first = this.#pending.get(key);
      if (first !== undefined) this.#queue.pushFollower(first, { entry, sinceMs, resolve, reject });
      else this.#enqueue({ key, entry, sinceMs, isSettled: false, followers: [], resolve, reject });
    });
  }

  /** Resolves when everything accepted so far is settled. */
  async drain(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  #enqueue(waiter: Waiter): void {
    this.#pending.set(waiter.key, waiter);
    this.#queue.push(waiter);
    this.#sweep ??= setInterval(() => this.#giveUpOnOld(), SWEEP_EVERY_MS).unref();
    if (this.#gathered !== undefined && this.#queue.rows >= this.#gatherRows) this.#gathered();
    this.#running ??= this.#run();
  }

  async #run(): Promise<void> {
    // Lets everything that arrived in this turn of the event loop join the first flush.
    await new Promise(setImmediate);
    while (this.#queue.rows > 0) {
      await this.#gather();
      const batch = this.#queue.takeBatch();
      const startMs = performance.now();
      await this.#flush(batch);
      const tookMs = performance.now() - startMs;
      this.#options.onFlush({ rows: batch.length, seconds: tookMs / 1000 });
      this.#pace.flushed({
        rows: batch.length,
        queued: this.#queue.rows,
        tookMs,
        nowMs: performance.now(),
      });
      if (this.#queue.rows === 0) await new Promise(setImmediate);
    }
    this.#running = undefined;
  }

  async #gather(): Promise<void> {
    const { rows, waitMs } = this.#pace.plan(performance.now());
    this.#gatherRows = Math.min(rows, this.#options.batchRowsMax);
    if (this.#queue.rows >= this.#gatherRows || waitMs < 1) return;
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

  async #flush(batch: Waiter[]): Promise<void> {
    const { identities, ready } = this.#options;
    try {
      await ready();
      await identities.open();
      await this.#unclear.settle();
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
    try {
      await this.#writeRows(waiters, token);
    } catch (error) {
      const fault = storeErrorFrom(error);
      if (fault.code === 'row_rejected') return this.#isolate(waiters, fault);
      return this.#recover(waiters, { token, fault });
    }
  }

  async #writeRows(waiters: Waiter[], token: string): Promise<void> {
    const { stream, columns, connection, identities } = this.#options;
    const lines = waiters.map(({ entry }) => entry.line);
    await connection.insert({ table: stream, columns, lines, token });
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
    let missing = waiters;
    for (const waitMs of RETRY_AFTER_MS) {
      await sleep(waitMs);
      try {
        missing = await this.#settleWritten(missing);
        if (missing.length > 0) await this.#writeRows(missing, token);
        return;
      } catch (error) {
        if (storeErrorFrom(error).code === 'row_rejected')
          return this.#isolate(missing, storeErrorFrom(error));
      }
    }
    this.#unclear.add(missing.map(({ entry }) => entry.identity));
    for (const waiter of missing) this.#fail(waiter, fault);
  }

  async #settleWritten(waiters: Waiter[]): Promise<Waiter[]> {
    const written = await this.#unclear.findWritten(waiters.map(({ entry }) => entry.identity));
    for (const waiter of waiters) if (written.has(waiter.key)) this.#settle(waiter, 'accepted');
    return waiters.filter(({ key }) => !written.has(key));
  }

  #settle(waiter: Waiter, result: WriteResult): void {
    this.#pending.delete(waiter.key);
    for (const follower of this.#queue.takeFollowers(waiter)) follower.resolve('duplicate');
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.resolve(result);
  }

  #fail(waiter: Waiter, fault: RequestError): void {
    // Settled by success already: this batch failed for its other rows.
    if (this.#pending.get(waiter.key) !== waiter) return;
    this.#pending.delete(waiter.key);
    for (const { entry, sinceMs, resolve, reject } of this.#queue.takeFollowers(waiter)) {
      // A refused row says nothing of the next one with its id: that one is tried on its own.
      if (fault.code === 'row_rejected') this.write(entry, sinceMs).then(resolve, reject);
      else reject(fault);
    }
    if (waiter.isSettled) return;
    waiter.isSettled = true;
    waiter.reject(fault);
  }

  /** Answers callers whose time is up. Rows in the queue are let go; rows in a flush may still be written. */
  #giveUpOnOld(): void {
    const sinceMs = performance.now() - WRITE_WAIT_MS_MAX;
    const fault = unavailable(undefined);
    for (const waiter of this.#queue.takeOlderThan(sinceMs)) this.#fail(waiter, fault);
    for (const waiter of this.#pending.values()) {
      for (const { reject } of this.#queue.takeFollowers(waiter, sinceMs)) reject(fault);
      if (waiter.sinceMs > sinceMs || waiter.isSettled) continue;
      waiter.isSettled = true;
      waiter.reject(fault);
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
