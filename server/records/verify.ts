import { isDeepStrictEqual } from 'node:util';
import { DIMENSION_NAMES, readBreakdown } from './breakdown.ts';
import { completenessOf } from './completeness.ts';
import { GROUPS_MAX, type ReadScope, readSummary, readTimeseries } from './counts.ts';
import { type AuditReads, createReads, type ReadsOptions } from './days.ts';
import { countPerDay } from './decisions.ts';
import { STREAMS } from './ledger.ts';
import { countInvocationsPerDay } from './llm-invocations.ts';
import { readLlmUsage } from './llm-usage.ts';

/** Two answers to one question that differ. */
export type Difference = { what: string; fast: unknown; checked: unknown };
type Answers = Record<string, unknown>;
type Entry = [string, unknown];

/**
 * Runs every read twice for the same instant: as the endpoints do, and from rows only, with FINAL on every day. Resolves with the entries
 * that differ.
 */
export async function verifyReads(options: ReadsOptions, scope: ReadScope): Promise<Difference[]> {
  // Uses projections even if reading few rows directly would be faster.
  const fast = await answersOf(createReads({ ...options, fewRows: 0 }), scope);
  // As on a cluster: every day may hold repeated rows.
  const rowsAlone = createReads({ ...options, writers: 'cluster' });
  const checked = await answersOf(rowsAlone, scope);
  const names = [...new Set([...Object.keys(fast), ...Object.keys(checked)])];
  return names
    .filter((what) => !isDeepStrictEqual(fast[what], checked[what]))
    .map((what) => ({ what, fast: fast[what] ?? null, checked: checked[what] ?? null }));
}

/** Each entry of each answer by a unique name. */
async function answersOf(reads: AuditReads, scope: ReadScope): Promise<Answers> {
  const { window } = scope;
  const summary = await readSummary(reads, scope);
  const { buckets } = await readTimeseries(reads, scope);
  const usage = await readLlmUsage(reads, scope);
  const counts = await reads.days.decisions.read(window, (finalDays) => countPerDay(reads, scope, finalDays));
  const calls = await reads.days.llmInvocations.read(window, (finalDays) =>
    countInvocationsPerDay(reads, scope, finalDays),
  );
  const breakdowns = await Promise.all(
    DIMENSION_NAMES.map((by) => readBreakdown(reads, scope, { by, limit: GROUPS_MAX })),
  );
  const entries: Entry[] = [
    ['summary totals', summary.totals],
    ['summary others', summary.others],
    ['completeness', JSON.stringify(await completenessOf(reads, scope, STREAMS))],
    ...summary.by_agent.map((row): Entry => [`summary agent ${row.agent_name}`, row]),
    ...summary.by_role.map((row): Entry => [`summary role ${row.role}`, row]),
    ...summary.by_tool.map((row): Entry => [`summary tool ${row.tool_name}`, row]),
    ...buckets.map(({ start, ...row }): Entry => [`timeseries ${start}`, row]),
    ...breakdowns.flatMap(({ by, items, others }): Entry[] => [
      [`breakdown ${by} others`, others],
      ...items.map((item): Entry => [`breakdown ${by} ${item.value}`, item]),
    ]),
    ...counts.map(({ day, total }): Entry => [`decisions ${day}`, total]),
    ...calls.map(({ day, total }): Entry => [`model calls ${day}`, total]),
    // The sums are raw JSON and compare as text.
    ['llm usage totals', JSON.stringify(usage.totals)],
    ...usage.by_model.map((row): Entry => [`llm usage model ${row.model}`, JSON.stringify(row)]),
    ...usage.by_agent.map((row): Entry => [`llm usage agent ${row.agent_name}`, JSON.stringify(row)]),
  ];
  return Object.fromEntries(entries);
}
