import type { LlmInvocation } from '../ingest/llm-invocation.ts';
import { sql } from '../store/sql.ts';
import { rfc3339FromClickhouse } from '../store/time.ts';
import { countedOf, type ReadScope, scopeFields } from './counts.ts';
import type { AuditReads } from './days.ts';
import { HOUR_SECONDS } from './llm-usage.ts';
import { type DayCount, type PageRequest, readRecords } from './pages.ts';

/** A row of llm_invocations_page.sql: times as the store prints them. */
type InvocationRow = Omit<LlmInvocation, 'occurredAtMs'> & { project_id: string; received_at: string };

/** GET …/audit/llm-invocations. */
export async function readLlmInvocations(reads: AuditReads, scope: ReadScope, page: PageRequest) {
  const { total, next_cursor, rows } = await readRecords<InvocationRow>(reads, scope, {
    days: reads.days.llmInvocations,
    statement: 'llm_invocations_page',
    countPerDay: countInvocationsPerDay,
    page,
  });
  const { limit, offset } = page;
  return { ...scopeFields(scope), total, limit, offset, next_cursor, items: rows.map(recordFrom) };
}

/** The days that hold matching model calls, newest first. */
export async function countInvocationsPerDay(
  { runRead, days }: AuditReads,
  scope: ReadScope,
  final_days: string[],
): Promise<DayCount[]> {
  const counted = await countedOf(days.llmInvocations, scope, HOUR_SECONDS);
  return runRead<DayCount>(sql('llm_invocations_per_day'), { ...counted, final_days }, scope.signal);
}

function recordFrom(row: InvocationRow) {
  return {
    ...row,
    occurred_at: rfc3339FromClickhouse(row.occurred_at),
    received_at: rfc3339FromClickhouse(row.received_at),
  };
}
