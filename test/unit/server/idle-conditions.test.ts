import { expect } from 'chai';
import { withoutIdleConditions } from '../../../server/store/idle-conditions.ts';

const PAGE = `-- project_id; agent: as {agent: Nullable(String)}
SELECT event_id
FROM decisions
WHERE project_id = {project_id: String}
    AND agent_name = {agent: Nullable(String)}
    AND (occurred_at < {until: Nullable(DateTime64(3, 'UTC'))} OR event_id < {until_id: Nullable(String)})
    AND toDate(occurred_at) NOT IN {final_days: Array(Date)}
LIMIT 1`;

/** The conditions that are left, by the name of their first parameter. */
function left(params: Parameters<typeof withoutIdleConditions>[1]): (string | undefined)[] {
  const lines = withoutIdleConditions(PAGE, { project_id: 'p', ...params }).split('\n');
  return lines.filter((line) => /^(WHERE| +AND)/.test(line)).map((line) => /\{(\w+)/.exec(line)?.[1]);
}

const GIVEN = { agent: 'a', until: '2026-01-02 03:04:05.678', until_id: 'x', final_days: ['2026-01-02'] };

describe('conditions that every row meets', () => {
  it('stay when they are given, the statement as it is in its file', () => {
    expect(withoutIdleConditions(PAGE, { project_id: 'p', ...GIVEN })).to.equal(PAGE);
  });

  it('are left out when a Nullable parameter in them is null, whichever it is', () => {
    expect(left({ ...GIVEN, agent: null })).to.deep.equal(['project_id', 'until', 'final_days']);
    expect(left({ ...GIVEN, until: null })).to.deep.equal(['project_id', 'agent', 'final_days']);
    expect(left({ ...GIVEN, until_id: null })).to.deep.equal(['project_id', 'agent', 'final_days']);
  });

  it('stay for an empty text, and for a parameter that is missing', () => {
    expect(left({ ...GIVEN, agent: '' })).to.deep.equal(['project_id', 'agent', 'until', 'final_days']);
    expect(left({ until: null })).to.deep.equal(['project_id', 'agent', 'final_days']);
  });

  it('are left out when they exclude nothing', () => {
    expect(left({ ...GIVEN, final_days: [] })).to.deep.equal(['project_id', 'agent', 'until']);
  });

  it('stay when their list is empty but selects, and when their parameter is not declared Nullable', () => {
    const sql = 'WHERE true\n    AND day IN {days: Array(Date)}\n    AND project_id = {project_id: String}';

    expect(withoutIdleConditions(sql, { days: [], project_id: null })).to.equal(sql);
  });
});
