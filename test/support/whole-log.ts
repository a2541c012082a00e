import { expect } from 'chai';
import { ask } from './reads.ts';
import type { RunningService } from './service.ts';

type Rows = <Row>(sql: string) => Promise<Row[]>;
type Whole = {
  records: number;
  waiting: number;
  entries: number;
  others: number;
  forks: number;
  gaps: number;
};

/**
 * Compares the log of a store with its records: how many records are missing in it, how many entries belong to no record, how many rounds
 * have two proposals, and how many pieces do not begin where the previous one ends.
 */
export async function readWholeLog(query: Rows): Promise<Whole> {
  const [row] = await query<Whole>(`SELECT
        toUInt32((SELECT count() FROM decisions)) AS records,
        toUInt32((SELECT countIf(entry NOT IN (SELECT arrayJoin(entries) FROM log_chunks)) FROM decisions)) AS waiting,
        toUInt32((SELECT sum(length(entries)) FROM log_chunks)) AS entries,
        toUInt32((SELECT countIf(entry NOT IN (SELECT entry FROM decisions)) FROM (SELECT arrayJoin(entries) AS entry FROM log_chunks))) AS others,
        toUInt32((SELECT count() FROM (SELECT round FROM log_chunks GROUP BY round HAVING uniqExact(proposal) > 1))) AS forks,
        toUInt32((SELECT countIf(start != due) FROM (
            SELECT start, lagInFrame(start + length(entries), 1, toUInt64(0))
                OVER (PARTITION BY project_id ORDER BY start ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS due
            FROM log_chunks WHERE project_id != ''
        ))) AS gaps
    SETTINGS output_format_json_escape_forward_slashes = 0`);
  return row as Whole;
}

/** Every record is in the log, once, and the log holds nothing else and has no fork. */
export function expectWholeLog(log: Whole): void {
  expect(log).to.deep.equal({
    records: log.records,
    waiting: 0,
    entries: log.records,
    others: 0,
    forks: 0,
    gaps: 0,
  });
  expect(log.records).to.be.above(0);
}

/** The indexes in the log of the records of an agent; null for those that have not entered yet. */
export async function readIndexes(
  service: RunningService,
  agent: string,
): Promise<Map<string, number | null>> {
  const { text } = await ask(service, 'decisions/export/proofs', { query: { window: '90d', agent } });
  const lines = text.split('\n').filter(Boolean);
  const proofs = lines.map((line) => JSON.parse(line) as { event_id: string; index: number | null });
  return new Map(proofs.map(({ event_id, index }) => [event_id, index]));
}
