import type { Config } from '../config.ts';
import { RETENTION_MS } from '../limits.ts';
import type { QueryParams } from '../store/connection.ts';
import type { RunRead, RunReadBytes } from '../store/read-pool.ts';
import { sql } from '../store/sql.ts';
import { clickhouseDay } from '../store/time.ts';
import type { ReadWindow } from './window.ts';
import { DAY_MS } from '../durations.ts';

/**
 * The writers of a store that may write a row twice: this process alone, several on one ClickHouse server, or several on a cluster, where
 * no node can list all parts.
 */
export type Writers = 'sole' | 'several' | 'cluster';

/** The dependencies of every read of records. */
export type AuditReads = {
  runRead: RunRead;
  runReadBytes: RunReadBytes;
  now: () => number;
  days: { decisions: ReadDays; llmInvocations: ReadDays };
};
export type ReadsOptions = Omit<ReadDaysOptions, 'table'> & { runReadBytes: RunReadBytes };

type PartsRow = { day: string; may_repeat: number; parts: string[]; number: number | string };
type Range = Pick<ReadWindow, 'sinceMs' | 'beforeMs' | 'toMs'>;
type Scope = { window: Range; signal?: AbortSignal };
type ReadDaysOptions = {
  table: 'decisions' | 'llm_invocations';
  writers: Writers;
  runRead: RunRead;
  now: () => number;
  /** Ranges with fewer rows are read without projections. 0: projections are used wherever possible. */
  fewRows?: number;
};

/** Planning the part of a statement that reads a projection takes at least as long as reading this many rows: docs/storage.md. */
const FEW_ROWS = 250_000;
/** A busy writer adds about as many in this time. */
const PARTS_VALID_MS = 5000;
/** Days after today that may hold rows, because clocks may be ahead. */
const DAYS_AHEAD = 2;
const LIST_AGAIN_MS = 1000;
/** A day with repeated rows is checked again after this long: a merge may have removed them. */
const CHECK_AGAIN_MS = 60_000;

/**
 * Knows the days on which a row may be stored twice. Only they need FINAL, which is slow and reads no projection. A day in one merged part
 * holds every row once. For a sole writer that stays true, because it looks up identities before it writes. It checks the other days once,
 * in the background.
 */
export class ReadDays {
  readonly #options: ReadDaysOptions;
  /** Days that hold every row once. Used only by a sole writer. */
  readonly #unique = new Set<string>();
  readonly #checkedAtMs = new Map<string, number>();
  #listedAtMs = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | undefined;
  #parts: ReadonlyMap<string, PartsRow> = new Map();
  #partsAtMs = Number.NEGATIVE_INFINITY;
  #counting: Promise<unknown> | undefined;
  #checking: Promise<void> | undefined;

  constructor(options: ReadDaysOptions) {
    this.#options = options;
  }

  /** Runs `work` with the days that it must read with FINAL. Retries with FINAL on all days if parts changed. */
  async read<T>(range: Range, work: (finalDays: string[]) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const days = daysOf(range);
    if (this.#options.writers === 'cluster') return work(days);
    if (this.#options.writers === 'sole') {
      await this.#learn(days);
      return work(days.filter((day) => !this.#unique.has(day)));
    }
    const before = await this.#list(signal);
    const finalDays = days.filter((day) => before.get(day)?.may_repeat === 1);
    const result = await work(finalDays);
    const after = await this.#list(signal);
    // In the meantime, another process may have added rows that were already there.
    const isSame = (day: string) => finalDays.includes(day) || partsOf(before, day) === partsOf(after, day);
    return days.every(isSame) ? result : work(days);
  }

  /** The same for one statement, whose parameter final_days has these days. */
  query<Row>(text: string, params: QueryParams, { window, signal }: Scope): Promise<Row[]> {
    const work = (final_days: string[]) =>
      this.#options.runRead<Row>(text, { ...params, final_days }, signal);
    return this.read(window, work, signal);
  }

  /** Whether a range holds so few rows, of all projects, that reading them directly is faster than using projections. An estimate. */
  async hasFewRows(range: Range): Promise<boolean> {
    const { writers, now, fewRows = FEW_ROWS } = this.#options;
    if (writers === 'cluster' || fewRows === 0) return false;
    if (performance.now() - this.#partsAtMs >= PARTS_VALID_MS)
      await (this.#counting ??= this.#list().finally(() => (this.#counting = undefined)));
    const numberOf = (day: string) => Number(this.#parts.get(day)?.number ?? 0) * shareOf(day, range, now());
    return daysOf(range).reduce((rows, day) => rows + numberOf(day), 0) < fewRows;
  }

  /** Resolves when no check runs in the background; for tests. */
  async settled(): Promise<void> {
    while (this.#listing !== undefined || this.#checking !== undefined) {
      await this.#listing?.catch(() => undefined);
      await this.#checking?.catch(() => undefined);
    }
  }

  async #learn(days: string[]): Promise<void> {
    if (days.every((day) => this.#unique.has(day))) return;
    const startMs = performance.now();
    if (startMs - this.#listedAtMs < LIST_AGAIN_MS) return;
    const isFirst = this.#listedAtMs === Number.NEGATIVE_INFINITY;
    this.#listing ??= this.#relist(days, startMs).finally(() => (this.#listing = undefined));
    // Without a list, everything would be read with FINAL. An old list is enough.
    if (isFirst) await this.#listing;
    else this.#listing.catch(() => undefined);
  }

  async #relist(days: string[], startMs: number): Promise<void> {
    const listed = await this.#list();
    this.#listedAtMs = startMs;
    // Includes the other days: the next read may need them.
    for (const day of [...days, ...listed.keys()])
      if (listed.get(day)?.may_repeat !== 1) this.#unique.add(day);
    const unsure = days.filter((day) => !this.#unique.has(day));
    const nowMs = this.#options.now();
    const [oldest = ''] = daysBetween(nowMs - RETENTION_MS, nowMs);
    for (const day of this.#unique) if (day < oldest) this.#unique.delete(day);
    const due = unsure.filter((day) => startMs - (this.#checkedAtMs.get(day) ?? -Infinity) >= CHECK_AGAIN_MS);
    if (due.length === 0) return;
    this.#checking ??= this.#check(due).finally(() => (this.#checking = undefined));
    // Until a day is known to hold every row once, it is read with FINAL.
    this.#checking.catch(() => undefined);
  }

  /** Checks one day at a time, the newest first because it is read most. */
  async #check(days: string[]): Promise<void> {
    const { table, runRead } = this.#options;
    for (const day of days.toReversed()) {
      this.#checkedAtMs.set(day, performance.now());
      const [row] = await runRead<{ repeats: number }>(sql('read_repeats'), { table, days: [day] });
      if (row?.repeats === 0) this.#unique.add(day);
    }
  }

  async #list(signal?: AbortSignal): Promise<ReadonlyMap<string, PartsRow>> {
    const { table, runRead } = this.#options;
    const rows = await runRead<PartsRow>(sql('read_parts'), { table }, signal);
    this.#partsAtMs = performance.now();
    return (this.#parts = new Map(rows.map((row) => [row.day, row])));
  }
}

export function createReads({ runReadBytes, ...options }: ReadsOptions): AuditReads {
  const decisions = new ReadDays({ ...options, table: 'decisions' });
  const llmInvocations = new ReadDays({ ...options, table: 'llm_invocations' });
  return { runRead: options.runRead, runReadBytes, now: options.now, days: { decisions, llmInvocations } };
}

/** An embedded store belongs to one process. */
export function writersOf({ clickhouse, cluster }: Pick<Config, 'clickhouse' | 'cluster'>): Writers {
  if (clickhouse === undefined) return 'sole';
  return cluster === undefined ? 'several' : 'cluster';
}

function partsOf(listed: ReadonlyMap<string, PartsRow>, day: string): string {
  return listed.get(day)?.parts.join() ?? '';
}

/** The days that a range may hold rows of. */
function daysOf({ sinceMs, beforeMs, toMs }: Range): string[] {
  return daysBetween(sinceMs, Math.min(beforeMs - 1, toMs + DAYS_AHEAD * DAY_MS));
}

/** The fraction of a day that lies in a range, from 0 to 1; for today, of the time that has passed. */
function shareOf(day: string, { sinceMs, beforeMs }: Range, nowMs: number): number {
  const startMs = Date.parse(day);
  const endMs = Math.max(startMs + 1, Math.min(startMs + DAY_MS, nowMs));
  return Math.max(0, Math.min(beforeMs, endMs) - Math.max(sinceMs, startMs)) / (endMs - startMs);
}

/** The days (UTC) from one instant to another, as YYYY-MM-DD. */
function daysBetween(fromMs: number, toMs: number): string[] {
  const first = Math.floor(fromMs / DAY_MS);
  const count = Math.floor(toMs / DAY_MS) - first + 1;
  return Array.from({ length: count }, (_, index) => clickhouseDay((first + index) * DAY_MS));
}
