import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDecisions, readSummary, timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, HOUR_MS } from '../../server/durations.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Until then, the suite has ended, and no record has left its window. */
const SUITE_MS_MAX = 10 * 60_000;
const WINDOW_DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };

describe('the summary', () => {
  const service = useSharedService();
  const ages: [number, Record<string, string>][] = [
    [-4 * 60_000, { agent_name: 'a', role: 'r2', tool_name: 'future' }],
    [0, { agent_name: 'b', role: '', tool_name: 'Z', outcome: 'deny' }],
    [2 * HOUR_MS, { agent_name: 'b', role: 'r1', tool_name: 'a', outcome: 'needs_approval' }],
    [DAY_MS - SUITE_MS_MAX, { agent_name: 'b', role: '', tool_name: 'é', outcome: 'deny' }],
    [DAY_MS + 20_000, { agent_name: 'c' }],
    [7 * DAY_MS - SUITE_MS_MAX, { agent_name: 'c' }],
    [7 * DAY_MS + 20_000, { agent_name: 'd' }],
    [30 * DAY_MS - SUITE_MS_MAX, { agent_name: 'd' }],
    [30 * DAY_MS + 20_000, { agent_name: 'e' }],
    [90 * DAY_MS - SUITE_MS_MAX, { agent_name: 'e' }],
  ];
  before(async () => {
    const events = ages.map(([ageMs, given]) =>
      decisionEvent({ occurred_at: timeFromNow(-ageMs), ...given }),
    );
    await sendBatch(service, events);
  });

  it('has totals and the breakdowns by agent, role and tool, each by total descending, then name', async () => {
    const { from, to, ...summary } = await readSummary(service);

    expect([from, to].every((time) => INSTANT.test(time))).to.equal(true);
    expect(summary).to.deep.equal({
      project_id: service.project_id,
      window: '24h',
      totals: { total: 4, allow: 1, deny: 2, needs_approval: 1 },
      by_agent: [
        { agent_name: 'b', total: 3, allow: 0, deny: 2, needs_approval: 1 },
        { agent_name: 'a', total: 1, allow: 1, deny: 0, needs_approval: 0 },
      ],
      by_role: [
        { role: '', total: 2, allow: 0, deny: 2, needs_approval: 0 },
        { role: 'r1', total: 1, allow: 0, deny: 0, needs_approval: 1 },
        { role: 'r2', total: 1, allow: 1, deny: 0, needs_approval: 0 },
      ],
      by_tool: [
        { tool_name: 'Z', total: 1, allow: 0, deny: 1, needs_approval: 0 },
        { tool_name: 'a', total: 1, allow: 0, deny: 0, needs_approval: 1 },
        { tool_name: 'future', total: 1, allow: 1, deny: 0, needs_approval: 0 },
        { tool_name: 'é', total: 1, allow: 0, deny: 1, needs_approval: 0 },
      ],
      others: { by_agent: null, by_role: null, by_tool: null },
      completeness: null,
    });
  });

  it('shows a record until it is exactly 90 days old', async () => {
    const nowMs = Math.floor(Date.now() / 1000) * 1000;
    const agesMs = [4300, 4700, 4950, 5999].map((ms) => nowMs + ms - 90 * DAY_MS);
    const agent_name = 'about to expire';
    const events = agesMs.map((ms) => decisionEvent({ occurred_at: new Date(ms).toISOString(), agent_name }));
    await sendBatch(service, events);
    const early: unknown[] = [];
    for (let left = agesMs.length; left > 0;) {
      const { from, by_agent } = await readSummary(service, { window: '90d' });
      left = agesMs.filter((ms) => ms >= Date.parse(from)).length;
      const total = by_agent.find((row) => row.agent_name === agent_name)?.total ?? 0;
      if (total !== left) early.push({ from, total, left });
      await sleep(50);
    }

    expect(early).to.deep.equal([]);
  });

  it('counts events since now minus the window, with no upper end', async () => {
    for (const [window, days] of Object.entries(WINDOW_DAYS)) {
      const nowMs = Date.now();

      const { from, to, totals, window: answered } = await readSummary(service, { window });

      expect([answered, totals.total]).to.deep.equal([
        window,
        { '24h': 4, '7d': 6, '30d': 8, '90d': 10 }[window],
      ]);
      expect(Date.parse(to) - Date.parse(from)).to.equal(days * DAY_MS);
      expect(Date.parse(to)).to.be.within(nowMs - 1, Date.now() + 1);
    }
  });

  it('agrees with the total of the decisions', async () => {
    for (const window of Object.keys(WINDOW_DAYS)) {
      const [{ totals }, { total }] = [
        await readSummary(service, { window }),
        await readDecisions(service, { window, limit: '1' }),
      ];

      expect(total).to.equal(totals.total);
    }
  });

  it('of an unknown project is empty', async () => {
    for (const id of [randomUUID(), 'no-uuid', "x' OR 1=1 --", '%', 'é😀']) {
      const { from, to, ...rest } = await readSummary(service, {}, id);

      expect([INSTANT.test(from), INSTANT.test(to)]).to.deep.equal([true, true]);
      const totals = { total: 0, allow: 0, deny: 0, needs_approval: 0 };
      expect(rest).to.deep.equal({
        project_id: id,
        window: '24h',
        totals,
        by_agent: [],
        by_role: [],
        by_tool: [],
        others: { by_agent: null, by_role: null, by_tool: null },
        completeness: null,
      });
    }
  });
});

describe('the lists of the summary', () => {
  const service = useSharedService();

  it('order names by their UTF-8 bytes, have at most 1,000 items, and add up to the totals with their others', async () => {
    // As UTF-16 units the emoji would come before the full-width tilde; as bytes it comes after it.
    const first = ['A', 'Z', 'a', 'aa', 'é', '～', '😀'];
    const names = [...first, ...Array.from({ length: 997 }, (_, i) => `😀${String(i).padStart(4, '0')}`)];
    const leftOut = ['allow', 'deny', 'deny', 'needs_approval'];
    const events = names.map((name, index) => {
      const outcome = leftOut[index - 1000] ?? 'allow';
      return decisionEvent({ agent_name: name, tool_name: name, role: name, outcome });
    });
    for (const half of [events.slice(0, 502), events.slice(502)]) await sendBatch(service, half);

    const { totals, by_agent, by_role, by_tool, others } = await readSummary(service);

    expect(totals).to.deep.equal({ total: 1004, allow: 1001, deny: 2, needs_approval: 1 });
    const expected = names.slice(0, 1000);
    expect(by_agent.map(({ agent_name }) => agent_name)).to.deep.equal(expected);
    expect(by_role.map(({ role }) => role)).to.deep.equal(expected);
    expect(by_tool.map(({ tool_name }) => tool_name)).to.deep.equal(expected);
    const rest = { entries: 4, total: 4, allow: 1, deny: 2, needs_approval: 1 };
    expect(others).to.deep.equal({ by_agent: rest, by_role: rest, by_tool: rest });
  });
});
