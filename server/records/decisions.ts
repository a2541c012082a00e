import { countOverTime, type ReadScope } from './counts.ts';
import type { AuditReads } from './days.ts';
import { type DayCount, type PageRequest, readRecords } from './pages.ts';
import { type DecisionRow, recordText } from './record.ts';
import { DAY_MS } from '../durations.ts';
import { clickhouseDay } from '../store/time.ts';

/** GET …/audit/decisions, as JSON text. */
export async function readDecisions(reads: AuditReads, scope: ReadScope, page: PageRequest): Promise<string> {
  const { total, next_cursor, rows } = await readRecords<DecisionRow>(reads, scope, {
    days: reads.days.decisions,
    statement: 'decisions_page',
    countPerDay,
    page,
  });
  const head = JSON.stringify({
    project_id: scope.projectId,
    window: scope.window.name,
    total,
    limit: page.limit,
    offset: page.offset,
    next_cursor,
  });
  return `${head.slice(0, -1)},"items":[${rows.map(recordText).join(',')}]}`;
}

/** The days that hold matching records, newest first. */
export async function countPerDay(
  reads: AuditReads,
  scope: ReadScope,
  finalDays: string[],
): Promise<DayCount[]> {
  const rows = await countOverTime(reads, scope, { bucketSeconds: DAY_MS / 1000, finalDays });
  return rows
    .map(({ start_seconds, total }) => ({ day: clickhouseDay(start_seconds * 1000), total }))
    .toReversed();
}
