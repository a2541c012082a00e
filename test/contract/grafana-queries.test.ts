import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readConfig } from '../../server/config.ts';
import { createLogger } from '../../server/logger.ts';
import { createStore } from '../../server/store/store.ts';
import { temporaryDirectory } from '../support/service.ts';

const GUIDE = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const SECTION = GUIDE.split('### Decisions in Grafana')[1]?.split('\n## ')[0] ?? '';
const QUERIES = Array.from(SECTION.matchAll(/```sql\n([^`]+)```/g), ([, text]) => text ?? '');
const PROJECT = randomUUID();

/** What the data source makes of its macros and of a variable. */
function expand(text: string): string {
  return text
    .replaceAll(/\$__timeInterval\((\w+)\)/g, 'toStartOfInterval(toDateTime($1), INTERVAL 3600 second)')
    .replaceAll(/\$__timeFilter\((\w+)\)/g, '$1 >= toDateTime(1767225600) AND $1 <= toDateTime(1767229200)')
    .replaceAll('$project', PROJECT);
}

describe('the queries for Grafana in the operations guide', () => {
  const store = createStore(readConfig({ GATE_DATA_DIR: temporaryDirectory() }), createLogger('silent'));
  before(async () => {
    await store.ready();
    // Two denied and one allowed, one of them written twice; another project, and another time.
    const rows = [
      ['00000000-0000-4000-8000-000000000001', PROJECT, 1767225600, 'deny', 'no'],
      ['00000000-0000-4000-8000-000000000001', PROJECT, 1767225600, 'deny', 'no'],
      ['00000000-0000-4000-8000-000000000002', PROJECT, 1767225601, 'deny', 'no'],
      ['00000000-0000-4000-8000-000000000003', PROJECT, 1767225602, 'allow', ''],
      ['00000000-0000-4000-8000-000000000004', randomUUID(), 1767225602, 'deny', 'no'],
      ['00000000-0000-4000-8000-000000000005', PROJECT, 1767225599, 'deny', 'no'],
    ];
    const columns = 'event_id, project_id, occurred_at, outcome, reason, agent_name, version';
    await store.background.command('ALTER TABLE decisions REMOVE TTL');
    await store.background.command('SYSTEM STOP MERGES decisions');
    for (const [id, project, at, outcome, reason] of rows)
      await store.background.command(
        `INSERT INTO decisions (${columns}) SELECT {id: UUID}, {project: String}, toDateTime64({at: Int64}, 3, 'UTC'),
         {outcome: String}, {reason: String}, 'bot', 1`,
        {
          id: String(id),
          project: String(project),
          at: Number(at),
          outcome: String(outcome),
          reason: String(reason),
        },
      );
  });
  after(() => store.close());

  it('count decisions by reason, and the share of denials by agent, each record once', async () => {
    const answers = await Promise.all(
      QUERIES.map((text) => store.lookups.query<Record<string, unknown>>(expand(text))),
    );

    expect(answers.map((rows) => rows.map(({ time: _time, ...row }) => row))).to.deep.equal([
      [{ reason: 'no', decisions: 2 }],
      [{ agent_name: 'bot', denied: 2 / 3 }],
    ]);
  });
});
