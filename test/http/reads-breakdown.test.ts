import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type Counts, readSummary, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { askJson, refusal } from '../support/reads.ts';
import { useSharedService } from '../support/shared-service.ts';
import { MINUTE_MS } from '../../server/durations.ts';

type Breakdown = {
  project_id: string;
  window: string | null;
  from: string;
  to: string;
  by: string;
  items: ({ value: string; first: string; last: string } & Counts)[];
  others: ({ entries: number } & Counts) | null;
};

const NOTHING: Counts = { total: 0, allow: 0, deny: 0, needs_approval: 0 };

describe('the breakdown', () => {
  const service = useSharedService();
  const baseMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - 3 * 60 * MINUTE_MS;
  const timeOf = (index: number) => new Date(baseMs + index * 20 * MINUTE_MS).toISOString();
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
  const breakdown = (query: Record<string, string> | string) =>
    askJson<Breakdown>(service, 'breakdown', { query });
  const row = (value: string, counts: Partial<Counts>, [first, last]: [number, number]) => ({
    value,
    ...NOTHING,
    ...counts,
    first: timeOf(first),
    last: timeOf(last),
  });

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

  const VALUES: Record<string, string[]> = {
    role: ['r', ''],
    tool: ['t1', 't2', 't3'],
    outcome: ['allow', 'deny', 'needs_approval'],
    error_type: ['policy_denied', '', 'approval_required', 'slow'],
    reason: ['', 'no', 'ask'],
    user_id: ['u1', '', 'u2'],
    session_id: ['s1', '', 's2'],
  };
  for (const [by, values] of Object.entries(VALUES)) {
    it(`by ${by} adds up to the summary, including what the list leaves out`, async () => {
      const { totals } = await readSummary(service);
      for (const limit of [1, 2, 1000]) {
        const { items, others } = await breakdown({ by, limit: String(limit) });
        expect(items.map(({ value }) => value)).to.deep.equal(values.slice(0, limit));
        expect(others?.entries ?? 0).to.equal(Math.max(0, values.length - limit));
        for (const key of ['total', 'allow', 'deny', 'needs_approval'] as const) {
          const sum = items.reduce((all, item) => all + item[key], others?.[key] ?? 0);
          expect(sum, `${key} with limit ${limit}`).to.equal(totals[key]);
        }
      }
    });
  }

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

  it('lists 50 values when no limit is given', async () => {
    const names = Array.from({ length: 51 }, (_, index) => `session-${String(index).padStart(2, '0')}`);
    await Promise.all(
      names.map((session_id) => sendDecision(service, decisionEvent({ agent_name: 'many', session_id }))),
    );
    const { items, others } = await breakdown({ by: 'session_id', agent: 'many' });

    expect(items.map(({ value }) => value)).to.deep.equal(names.slice(0, 50));
    expect(others).to.deep.equal({ entries: 1, total: 1, allow: 1, deny: 0, needs_approval: 0 });
  });

  it('of an unknown project is empty', async () => {
    const query = { by: 'agent' };
    const { items, others } = await askJson<Breakdown>(service, 'breakdown', {
      query,
      projectId: randomUUID(),
    });
    expect({ items, others }).to.deep.equal({ items: [], others: null });
  });

  for (const query of [
    '',
    'by=',
    'by=agent_name',
    'by=agent&by=role',
    'by=agent&limit=0',
    'by=agent&limit=1001',
  ])
    it(`with "${query}" is 422`, async () => {
      expect(await refusal(service, 'breakdown', { query })).to.deep.equal([422, 'query_invalid']);
    });
});
