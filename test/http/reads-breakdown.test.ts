import { expect } from 'chai';
import { type Counts, readSummary, sendDecision } from '../support/audit.ts';
import { breakdownAt, timeOf } from '../support/breakdown.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';

const NOTHING: Counts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

describe('the breakdown', () => {
  const service = useSharedService();
  const denied = { outcome: 'deny', reason: 'no' };
  const asked = { outcome: 'needs_approval', reason: 'ask' };
  const slow = { error_type: 'slow' };
  const RECORDS: [agent: string, tool: string, role: string, user: string, session: string, object][] = [
    ['b', 't1', '', 'u1', 's1', denied],
    ['a', 't1', 'r', 'u1', 's1', denied],
    ['é', 't2', 'r', 'u2', 's1', {}],
    ['a', 't3', '', '', '', asked],
    ['b', 't1', 'r', 'u1', 's2', slow],
  ];
  before(async () => {
    for (const [index, [agent_name, tool_name, role, user_id, session_id, more]] of RECORDS.entries()) {
      const names = { agent_name, tool_name, role, user_id, session_id };
      await sendDecision(service, decisionEvent({ occurred_at: timeOf(index), ...names, ...more }));
    }
  });
  const { breakdown, row, addsUp, hasBounds, refuses } = breakdownAt(service, 'breakdown', NOTHING);

  it('has exactly the documented keys, by total descending, then value in UTF-8 bytes', async () => {
    const { from, to, ...rest } = await breakdown({ by: 'agent' });

    expect(Date.parse(to) - Date.parse(from)).to.equal(86_400_000);
    expect(rest).to.deep.equal({
      project_id: service.project_id,
      window: '24h',
      by: 'agent',
      items: [
        row('a', { total: 2, deny: 1, needs_approval: 1 }, [1, 3]),
        row('b', { total: 2, deny: 1, allow: 1 }, [0, 4]),
        row('é', { total: 1, allow: 1 }, [2, 2]),
      ],
      others: null,
    });
  });

  addsUp(
    {
      role: ['r', ''],
      tool: ['t1', 't2', 't3'],
      outcome: ['allow', 'deny', 'needs_approval'],
      error_type: ['policy_denied', '', 'approval_required', 'slow'],
      reason: ['', 'no', 'ask'],
      user_id: ['u1', '', 'u2'],
      session_id: ['s1', '', 's2'],
    },
    async () => (await readSummary(service)).totals,
  );

  it('takes filters and a range', async () => {
    const { items, window, others } = await breakdown(
      `by=tool&not.agent=%C3%A9&role=r&role=&from=${timeOf(1)}&to=${timeOf(4)}`,
    );

    expect([window, others]).to.deep.equal([null, null]);
    expect(items).to.deep.equal([
      row('t1', { total: 1, deny: 1 }, [1, 1]),
      row('t3', { total: 1, needs_approval: 1 }, [3, 3]),
    ]);
  });

  it('counts a re-post once', async () => {
    const event = decisionEvent({ reason: 'once', occurred_at: timeOf(1) });
    await sendDecision(service, event);
    await sendDecision(service, { ...event, reason: 'twice', occurred_at: timeOf(2) });
    const { items } = await breakdown({ by: 'reason', tool: String(event['tool_name']) });

    expect(items).to.deep.equal([row('once', { total: 1, allow: 1 }, [1, 1])]);
  });

  hasBounds((session_id) => sendDecision(service, decisionEvent({ agent_name: 'many', session_id })), {
    ...NOTHING,
    total: 1,
    allow: 1,
  });

  refuses(['', 'by=', 'by=agent_name', 'by=agent&by=role', 'by=agent&limit=0', 'by=agent&limit=1001']);
});
