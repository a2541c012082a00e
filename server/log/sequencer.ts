import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Flushes, numberAt } from '../commit/flush-numbers.ts';
import type { Removal } from '../commit/remove-rows.ts';
import { RETENTION_MS } from '../limits.ts';
import { clickhouseTime } from '../store/time.ts';
import { FlushQueue, type Waiting } from './flush-queue.ts';
import type { LogTables } from './log-tables.ts';
import { LogRounds, NO_INSERTS, type Work } from './rounds.ts';
import { SubtreeHashes } from './subtree-hashes.ts';

type SequencerOptions = {
  tables: LogTables;
  /** Other services write to this store. */
  isShared: boolean;
  /** Resolves when the store may be used, and the identities that a crash left out are stored. */
  opened: () => Promise<void>;
  /** Resolves when the identities of all finished inserts are stored. */
  markOwn: () => Promise<void>;
  remove: (rows: Removal[]) => Promise<void>;
  logger: Logger;
  now: () => number;
};

/** A round costs nearly as much for one insert as for a hundred. If services share a store, their records also wait for SHARED_AGE_MS. */
const ROUND_EVERY_MS = { alone: 1500, shared: 1000 };
/** Rows of an insert that was in progress longer could still have come first; see docs/storage.md. */
const SHARED_AGE_MS = 1000;
const SCAN_EVERY_MS = 5000;
/** For inserts of other services: within this time, their own service has logged them, or it never will. */
const FOREIGN_AGE_MS = 5000;
/** No insert is carried out after this long. */
const LANDED_MS = 70_000;
const SCAN_BACK_MS = 180_000;
/** A start looks back this far from the newest insert that is complete in the log. */
const START_BACK_MS = 3_600_000;
/** The most fresh inserts in a round, and the most rows of other inserts. */
const TAKE = { fresh: 2000, careful: 100_000 };
/**
 * How often to look for rows from before the log: while there are any, and afterwards, because an older service may write to a shared
 * store.
 */
const HOURS_EVERY_MS = { found: 60_000, shared: 600_000 };

/** Appends the records of this process to the log, every second or so while there are any, and those of processes that ended. */
export class Sequencer {
  readonly #options: SequencerOptions;
  readonly #queue: FlushQueue;
  readonly #rounds: LogRounds;
  readonly #hashes: SubtreeHashes;
  readonly #closing = new AbortController();
  /** The inserts of the running round. */
  #taken: Waiting[] = [];
  #running: Promise<void> | undefined;
  #wake: (() => void) | undefined;
  #scanAtMs: number | undefined;
  #hours: { hour: string; number: number; isFinal: boolean }[] = [];
  #hoursAtMs = -Infinity;
  /** When the last scan that succeeded began. */
  #scannedMs: number | undefined;

  constructor(options: SequencerOptions) {
    const { tables, isShared, remove, now, logger } = options;
    this.#options = options;
    this.#queue = new FlushQueue(() => this.#wake?.());
    const expiredBefore = () => clickhouseTime(now() - RETENTION_MS);
    this.#rounds = new LogRounds({ tables, isShared, remove, expiredBefore });
    this.#hashes = new SubtreeHashes(tables, logger);
  }

  get flushes(): Flushes {
    return this.#queue;
  }

  /** Seconds since the insert that waits longest for the log ended; 0 when none waits. */
  get waitSeconds(): number {
    let oldestMs = this.#queue.oldestMs ?? Infinity;
    for (const { sinceMs } of this.#taken) oldestMs = Math.min(oldestMs, sinceMs);
    return Math.max(0, (performance.now() - oldestMs) / 1000);
  }

  /** Numbers the inserts after those in the log, even if their process had its clock ahead: a start scans from the newest one. */
  async open(): Promise<void> {
    const { tables } = this.#options;
    const { flush } = await tables.newestFlush(await tables.newestRound());
    this.#queue.startAfter(flush);
  }

  start(): void {
    this.#scanAtMs = performance.now();
    this.#running ??= this.#run();
  }

  /** Logs the waiting inserts, if the store answers in time. */
  async close(): Promise<void> {
    this.#queue.close();
    this.#closing.abort();
    this.#wake?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { logger, isShared } = this.#options;
    const { signal } = this.#closing;
    const everyMs = ROUND_EVERY_MS[isShared ? 'shared' : 'alone'];
    for (let isOk = true, isHourNext = false; ;) {
      const startMs = performance.now();
      const isLast = signal.aborted;
      const ageMs = isShared && !isLast ? SHARED_AGE_MS : 0;
      const taken: Waiting[] = (this.#taken = isHourNext ? [] : this.#queue.take({ ...TAKE, ageMs }));
      // Otherwise, rows from before the log would wait for as long as there are inserts in every round.
      isHourNext = taken.length > 0 && this.#hours.length > 0;
      let isBehind = false;
      try {
        isBehind = (await this.#turn(taken)) && this.#queue.hasCareful;
        isOk = true;
      } catch (error) {
        this.#queue.putBack(taken);
        if (isOk) logger.warn({ err: error }, 'Cannot write the log yet; records enter it later');
        isOk = false;
      }
      this.#taken = [];
      if (isOk && (isLast || performance.now() >= this.#hashes.dueMs)) await this.#hashes.store();
      if (isLast && (!isOk || this.#queue.size === 0)) return;
      if (!signal.aborted) await this.#pause(isBehind ? startMs : startMs + everyMs);
    }
  }

  /** Waits until the next round is due and an insert is waiting. */
  async #pause(dueMs: number): Promise<void> {
    const { signal } = this.#closing;
    await sleep(Math.max(0, dueMs - performance.now()), undefined, { signal }).catch(() => undefined);
    while (!signal.aborted && this.#queue.size === 0 && this.#hours.length === 0) {
      const nextMs = Math.min(this.#scanAtMs ?? Infinity, this.#hoursAtMs, this.#hashes.dueMs);
      const restMs = nextMs - performance.now();
      if (restMs <= 0) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(restMs, SCAN_EVERY_MS));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
  }

  /** Resolves with whether all taken inserts are done. */
  async #turn(taken: Waiting[]): Promise<boolean> {
    const { isShared, opened, markOwn } = this.#options;
    await opened();
    if (!this.#closing.signal.aborted) await this.#scan();
    const work = workOf(taken);
    if (taken.length > 0) {
      if (isShared || work.careful.length > 0) await markOwn();
      return this.#do(work, taken);
    }
    if (!this.#closing.signal.aborted) await this.#doHour();
    return true;
  }

  async #do(work: Work, taken: Waiting[]): Promise<boolean> {
    const { isDone, incomplete, grown } = await this.#rounds.run(work);
    if (!isDone) this.#queue.putBack(taken);
    else if (incomplete.length > 0) {
      const left = new Set(incomplete.map(BigInt));
      this.#queue.putBack(taken.filter(({ flush }) => left.has(flush)));
    }
    this.#hashes.grew(grown);
    return isDone && incomplete.length === 0;
  }

  /** One hour of rows from before the log. */
  async #doHour(): Promise<void> {
    const [hour] = this.#hours;
    if (hour === undefined) return;
    const { isDone, grown } = await this.#rounds.run({ ...NO_INSERTS, hour });
    if (isDone) this.#hours.shift();
    this.#hashes.grew(grown);
  }

  /** Looks for inserts that are not in the log: of processes that ended or are slow. */
  async #scan(): Promise<void> {
    const { isShared, tables, now } = this.#options;
    const isDue = this.#scanAtMs !== undefined && performance.now() >= this.#scanAtMs;
    if (isDue || this.#queue.hasOverflowed) {
      const nowMs = now();
      const head = await tables.newestRound();
      const scannedMs = this.#queue.hasOverflowed ? undefined : this.#scannedMs;
      const isFirst = scannedMs === undefined;
      const from = isFirst
        ? await this.#startOf(head, nowMs)
        : numberAt(Math.min(scannedMs, nowMs) - SCAN_BACK_MS);
      // In a store with one process, every earlier writer has ended. Its clock may have been ahead.
      const to = isShared ? numberAt(nowMs - (isFirst ? 0 : FOREIGN_AGE_MS)) : (1n << 63n) - 1n;
      const found = await tables.unlisted({ from: from > 0n ? from : 1n, to, head });
      this.#scannedMs = nowMs;
      this.#queue.hasOverflowed = false;
      this.#scanAtMs = isShared ? performance.now() + SCAN_EVERY_MS : undefined;
      for (const { flush, rows } of found) {
        this.#queue.startAfter(flush);
        if (this.#queue.isUnderWay(flush) || (!isFirst && this.#queue.isOwn(flush))) continue;
        const isFinal = !isShared || flush < numberAt(nowMs - LANDED_MS);
        this.#queue.add({ flush, isFresh: false, isFinal, rows });
      }
    }
    await this.#scanHours();
  }

  /**
   * Where a scan begins that finds everything that earlier processes left. Their clocks may have been ahead of those of the store and of
   * this process.
   */
  async #startOf(head: number, nowMs: number): Promise<bigint> {
    const { flush, atMs } = await this.#options.tables.newestFlush(head);
    const latest = numberAt(Math.min(nowMs, atMs));
    return (flush < latest ? flush : latest) - numberAt(START_BACK_MS);
  }

  async #scanHours(): Promise<void> {
    if (this.#hours.length > 0 || performance.now() < this.#hoursAtMs) return;
    const { isShared, tables, now } = this.#options;
    const hours = await tables.hours(clickhouseTime(now() - RETENTION_MS));
    this.#hours = hours.map(({ hour, number, is_still }) => ({
      hour,
      number: Number(number),
      isFinal: Boolean(is_still),
    }));
    const idleMs = isShared ? HOURS_EVERY_MS.shared : Infinity;
    this.#hoursAtMs = performance.now() + (hours.length > 0 ? HOURS_EVERY_MS.found : idleMs);
  }
}

/** The inserts as the work of a round. */
export function workOf(taken: Waiting[]): Work {
  const fresh = taken.filter(({ isFresh }) => isFresh);
  return {
    fresh: fresh.map(({ flush }) => `${flush}`),
    projects: new Set(fresh.flatMap(({ projects = [] }) => [...projects])),
    careful: taken
      .filter(({ isFresh }) => !isFresh)
      .map(({ flush, isFinal }) => ({ flush: `${flush}`, isFinal })),
  };
}
