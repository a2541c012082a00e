import { RETENTION_MS } from '../limits.ts';
import { sql } from '../store/sql.ts';
import { clickhouseSeconds, clickhouseTime } from '../store/time.ts';
import type { ReadScope } from './counts.ts';
import type { AuditReads } from './days.ts';
import { DAY_MS, HOUR_MS } from '../durations.ts';

/** Each kind of events, which is also the name of its table. An emitter has one of them. */
export const STREAMS = ['decisions', 'llm_invocations'] as const;
export type Stream = (typeof STREAMS)[number];

/**
 * A gap in the numbers of an emitter: the first of them, their count, the total drops that the later neighbour reports, and 1 if it belongs
 * to the window. The drops before the first record that has not expired are one gap outside of it.
 */
export type Gap = [first: number, size: number, reported: number, isInside: 0 | 1];
/** A gap on a page; see ledger.sql. */
type ListedGap = [first: number, end: number, agent: string, afterMs: number, beforeMs: number];

type LedgerRow = {
  emitters: number;
  unclosed: number;
  received: number;
  gaps: Gap[][];
  pages?: [emitter: string, gaps: Gap[], page: ListedGap[]][];
};

/** Which gaps to list: how many, and after which position in the list. */
export type GapPage = { limit: number; until: string | null; until_emitter: string; until_first: number };
const NOTHING: LedgerRow = { emitters: 0, unclosed: 0, received: 0, gaps: [] };
const NO_PAGE = { limit: null, until: null };

/** A sender that has been silent for this long and did not close counts as ended without closing. */
const SILENCE_MS = HOUR_MS;
/** How long rows may stay stored after they expire. */
const STORED_AFTER_MS = 2 * DAY_MS;

/** Runs ledger.sql for one stream. */
export async function readLedger(
  { runRead, days, now }: AuditReads,
  { projectId, window, signal }: ReadScope,
  { stream, page }: { stream: Stream; page?: GapPage },
): Promise<LedgerRow> {
  const from_hour = clickhouseSeconds(hourOf(window.sinceMs));
  const asked = { table: stream, project_id: projectId, from_hour };
  const daysOf = stream === 'decisions' ? days.decisions : days.llmInvocations;
  const few_rows = (await daysOf.hasFewRows(window)) ? 1 : null;
  const heard = await runRead(sql('ledger_heard'), { ...asked, few_rows }, signal);
  if (heard.length === 0) return NOTHING;
  const nowMs = now();
  const aliveMs = Math.min(nowMs - RETENTION_MS, window.sinceMs);
  const oldestMs = hourOf(aliveMs - STORED_AFTER_MS);
  const range = { sinceMs: oldestMs, beforeMs: Number.POSITIVE_INFINITY, toMs: nowMs };
  const hasFew = await daysOf.hasFewRows(range);
  const params = {
    ...asked,
    oldest: clickhouseSeconds(oldestMs),
    since: clickhouseTime(window.sinceMs),
    before: clickhouseTime(window.beforeMs),
    alive_since: clickhouseTime(aliveMs),
    silent_since: clickhouseTime(nowMs - SILENCE_MS),
    hours: [aliveMs, window.sinceMs, window.beforeMs]
      .filter((ms) => ms % HOUR_MS !== 0)
      .map((ms) => clickhouseSeconds(hourOf(ms))),
    ...(hasFew ? { few_rows: 1, many_rows: null } : { few_rows: null, many_rows: 1 }),
    ...(page ?? NO_PAGE),
  };
  const [row] = await daysOf.query<LedgerRow>(sql('ledger'), params, { window: range, signal });
  return row as LedgerRow;
}

/**
 * How many of each gap were dropped, for all gaps of an emitter in order: the drops that the later neighbour reports, minus those that
 * explain earlier gaps. The rest of a gap is missing.
 */
export function droppedOf(gaps: readonly Gap[]): number[] {
  let explained = 0;
  return gaps.map(([, size, reported]) => {
    const dropped = Math.min(size, Math.max(0, reported - explained));
    explained += dropped;
    return dropped;
  });
}

export function hourOf(ms: number): number {
  return ms - (ms % HOUR_MS);
}
