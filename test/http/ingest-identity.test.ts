import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { accepted, invalid, outcomeOf, sendDecision, tally, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import type { RunningService } from '../support/service.ts';
import { useSharedService } from '../support/shared-service.ts';
import { everythingOf, otherVersionsOf, type Everything } from '../support/snapshot.ts';
import { DAY_MS } from '../../server/durations.ts';

describe('identity is (project_id, event_id) and the first write wins', () => {
  const one = useSharedService();
  const two = useSharedService();

  const send = async (project: RunningService, event: unknown) =>
    outcomeOf(await sendDecision(project, event));
  const everything = (project: RunningService): Promise<Everything> =>
    everythingOf(project, project.project_id);

  /** Names that no other test uses, so that each group of the summary has one record. */
  function uniqueEvent(): Record<string, unknown> {
    return decisionEvent({ agent_name: randomUUID(), role: randomUUID(), tool_name: randomUUID() });
  }

  /** Exactly this event is in every endpoint under its own names. Returns what they say. */
  async function holds(project: RunningService, event: Record<string, unknown>): Promise<Everything> {
    const seen = await everything(project);
    const { items, exported, totals, buckets, by_agent, by_role, by_tool } = seen;
    const found = items.filter(({ event_id }) => event_id === event['event_id']);
    const { received_at, ...record } = found[0] ?? {};
    const counts = { total: 1, allow: 0, deny: 0, needs_approval: 0, [String(event['outcome'])]: 1 };
    const { agent_name, role, tool_name } = event;
    expect(found.length).to.equal(1);
    expect(exported).to.deep.equal(items);
    expect(buckets.reduce((sum, { total }) => sum + total, 0)).to.equal(totals.total);
    expect(received_at).to.be.a('string');
    expect(record).to.deep.equal({ ...event, project_id: project.project_id, agent_version_id: '' });
    expect(by_agent.filter((group) => group.agent_name === agent_name)).to.deep.equal([
      { agent_name, ...counts },
    ]);
    expect(by_role.filter((group) => group.role === role)).to.deep.equal([{ role, ...counts }]);
    expect(by_tool.filter((group) => group.tool_name === tool_name)).to.deep.equal([
      { tool_name, ...counts },
    ]);
    return seen;
  }

  it('re-posting an event_id with another outcome, agent, role or day returns 202 and changes nothing', async () => {
    const event = uniqueEvent();
    const before = await everything(one);

    expect(await send(one, event)).to.deep.equal(accepted);
    const after = await holds(one, event);
    expect(after.totals.total).to.equal(before.totals.total + 1);
    for (const other of [event, ...otherVersionsOf(event)])
      expect(await send(one, other)).to.deep.equal(accepted);
    expect(await everything(one)).to.deep.equal(after);
  });

  it('the answer to a re-post carries the event_id', async () => {
    const event = uniqueEvent();
    await sendDecision(one, event);

    const response = await sendDecision(one, { ...event, outcome: 'deny' });

    expect(await response.json()).to.deep.equal({ event_id: event['event_id'] });
  });

  it('upper and lower case are the same event_id', async () => {
    const event = uniqueEvent();
    const upper = String(event['event_id']).toUpperCase();

    await send(one, { ...event, event_id: upper });
    const after = await everything(one);
    await send(one, { ...event, outcome: 'deny' });
    await send(one, { ...event, event_id: upper, role: 'other' });

    expect(await holds(one, event)).to.deep.equal(after);
  });

  it('50 at once make one record, and every caller gets 202', async () => {
    const event = uniqueEvent();
    const before = await everything(one);
    const variants = Array.from({ length: 50 }, (_, i) => ({
      ...event,
      reason: String(i),
      occurred_at: timeFromNow(-i * DAY_MS),
    }));

    const outcomes = await Promise.all(variants.map((variant) => send(one, variant)));

    const after = await everything(one);
    const winner = after.items.find(({ event_id }) => event_id === event['event_id']);
    expect(tally(outcomes)).to.deep.equal({ '202': 50 });
    expect(after.totals.total).to.equal(before.totals.total + 1);
    await holds(one, variants.find(({ reason }) => reason === winner?.['reason']) ?? {});
  });

  it('50 pairs at once make 50 records', async () => {
    const agent_name = randomUUID();
    const events = Array.from({ length: 50 }, () => decisionEvent({ agent_name }));

    await Promise.all([...events, ...events].map((event) => send(one, event)));

    const items = (await everything(one)).items.filter((item) => item['agent_name'] === agent_name);
    expect(items.map(({ event_id }) => event_id)).to.have.members(events.map((event) => event['event_id']));
  });

  it('two projects may use the same event_id: two records', async () => {
    const event = uniqueEvent();
    const other = {
      ...uniqueEvent(),
      event_id: event['event_id'],
      outcome: 'deny',
      error_type: 'policy_denied',
    };

    expect(await Promise.all([send(one, event), send(two, other)])).to.deep.equal([accepted, accepted]);
    const after = [await everything(one), await everything(two)];
    await Promise.all([send(two, event), send(one, other)]);

    expect([await holds(one, event), await holds(two, other)]).to.deep.equal(after);
  });

  it('a rejected body does not use up its event_id', async () => {
    const event = uniqueEvent();

    const refused = [
      await send(one, { ...event, role: 1 }),
      await send(one, { ...event, occurred_at: timeFromNow(-91 * DAY_MS) }),
      await send(one, { ...event, arguments: { a: 'x'.repeat(9000) } }),
      await send({ ...one, key: 'bad' }, event),
    ];

    expect(refused.map(({ status }) => status)).to.deep.equal([422, 400, 413, 401]);
    expect(await send(one, event)).to.deep.equal(accepted);
    await holds(one, event);
  });

  it('a re-post is validated like any other body', async () => {
    const event = uniqueEvent();
    await send(one, event);

    expect(await send(one, { ...event, outcome: 'x' })).to.deep.equal(invalid);
    expect((await send(one, { ...event, occurred_at: timeFromNow(-91 * DAY_MS) })).status).to.equal(400);
    expect((await send(one, { ...event, hint: { a: 'x'.repeat(5000) } })).status).to.equal(413);
  });
});
