import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { type DecisionRecord, readDecisions, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, refusal } from '../support/reads.ts';
import { sharedService, useSharedService } from '../support/shared-service.ts';
import { DAY_MS } from '../../server/durations.ts';

const BIG = '{"id":9007199254740993,"much":1e400,"price":0.10}';

describe('a decision by its id', () => {
  const service = useSharedService();

  const problem = (eventId: string) => refusal(service, `decisions/${eventId}`);

  it('is the record that the list shows, right after its 202 and however old', async () => {
    for (const days of [0, 2, 89]) {
      const occurred_at = timeFromNow(-days * DAY_MS - 1000);
      const event = decisionEvent({ occurred_at, role: `role-${days}`, hint: { days }, violations: ['v'] });
      expect((await sendDecision(service, event)).status).to.equal(202);

      const record = await askJson<DecisionRecord>(service, `decisions/${String(event['event_id'])}`);

      const { items } = await readDecisions(service, { window: '90d', role: `role-${days}` });
      expect(items).to.deep.equal([record]);
    }
  });

  it('keeps every digit of its numbers', async () => {
    const event = decisionEvent();
    const body = JSON.stringify({ ...event, arguments: 0 }).replace('"arguments":0', `"arguments":${BIG}`);
    await sendDecision(service, body);

    const { text, headers } = await ask(service, `decisions/${String(event['event_id'])}`);

    expect(text).to.include(`"arguments":${BIG}`);
    expect(headers.get('content-type')).to.match(/^application\/json/);
  });

  it('is found by its id in any case', async () => {
    const event_id = 'abcdef01-ABCD-4abc-8DEF-abcdefabcdef';
    await sendDecision(service, decisionEvent({ event_id }));

    for (const id of [event_id, event_id.toUpperCase(), event_id.toLowerCase()]) {
      const record = await askJson<DecisionRecord>(service, `decisions/${id}`);
      expect(record.event_id).to.equal(event_id.toLowerCase());
    }
  });

  it('stays the first record after a re-post', async () => {
    const event = decisionEvent({ reason: 'the first' });
    await sendDecision(service, event);
    const path = `decisions/${String(event['event_id'])}`;
    const before = await askJson<DecisionRecord>(service, path);
    await sendDecision(service, { ...event, reason: 'again', occurred_at: timeFromNow(-DAY_MS) });

    expect(await askJson<DecisionRecord>(service, path)).to.deep.equal(before);
  });

  it('of another project is 404, and so is an id that no record has', async () => {
    const other = await sharedService();
    const event = decisionEvent();
    await sendDecision(other, event);

    expect(await problem(String(event['event_id']))).to.deep.equal([404, 'not_found']);
    expect(await problem(randomUUID())).to.deep.equal([404, 'not_found']);
  });

  it('that is not a UUID is 404', async () => {
    const id = randomUUID();
    for (const text of ['x', '%00', `${id}0`, id.replaceAll('-', ''), `urn:uuid:${id}`, `{${id}}`, "' OR 1"])
      expect(await problem(encodeURIComponent(text)), text).to.deep.equal([404, 'not_found']);
  });
});
