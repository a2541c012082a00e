import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { accepted, invalid, outcomeOf, readDecisions, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';

const REQUIRED = { event_id: '', occurred_at: '', agent_name: '', tool_name: '', outcome: '' };

describe('POST /v1/audit/decisions', () => {
  const service = useSharedService();

  /** The one record of a session that only this test uses. */
  async function recordOf(session_id: string): Promise<Record<string, unknown>> {
    const { items, total } = await readDecisions(service, { session_id, window: '90d' });
    expect(total).to.equal(1);
    return items[0] ?? {};
  }

  it('accepts each of the three outcomes and derives error_type if none was sent', async () => {
    const derived: Record<string, string> = {
      allow: '',
      deny: 'policy_denied',
      needs_approval: 'approval_required',
    };
    for (const [outcome, error_type] of Object.entries(derived)) {
      for (const sent of [{ error_type: '' }, { error_type: undefined }]) {
        const session_id = randomUUID();

        const answer = await outcomeOf(
          await sendDecision(service, decisionEvent({ outcome, session_id, ...sent })),
        );

        expect(answer).to.deep.equal(accepted);
        expect(await recordOf(session_id)).to.include({ outcome, error_type });
      }
    }
  });

  it('answers 202 with the event_id, and nothing else, when the row is written', async () => {
    const event = decisionEvent();

    const response = await sendDecision(service, event);

    expect(response.status).to.equal(202);
    expect(response.headers.get('Content-Type')).to.match(/^application\/json/);
    expect(await response.json()).to.deep.equal({ event_id: event['event_id'] });
  });

  it('keeps an error_type as it was sent', async () => {
    const session_id = randomUUID();

    await sendDecision(service, decisionEvent({ outcome: 'allow', error_type: 'my_own', session_id }));

    expect(await recordOf(session_id)).to.include({ outcome: 'allow', error_type: 'my_own' });
  });

  it('stores every field of the event and the three that the server sets', async () => {
    const session_id = randomUUID();
    const event = decisionEvent({
      session_id,
      outcome: 'deny',
      reason: 'No "writes" at\nnight — 夜 😀 \\ \t',
      violations: ['first', '', 'third, with "quotes" and \\'],
      hint: { next: ['ask', 1, true, null, { deep: {} }], '': '' },
      arguments: { path: '/tmp', 'a key': [[]] },
    });
    const sentAtMs = Date.now();

    await sendDecision(service, event);

    const { received_at, ...record } = await recordOf(session_id);
    expect(record).to.deep.equal({
      ...event,
      error_type: 'policy_denied',
      project_id: service.project_id,
      agent_version_id: '',
    });
    expect(received_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(String(received_at))).to.be.within(sentAtMs, Date.now());
  });

  it('fills in the defaults of the fields that are left out', async () => {
    const [agent_name, occurred_at, event_id] = [randomUUID(), timeFromNow(0), randomUUID()];

    await sendDecision(service, { event_id, occurred_at, agent_name, tool_name: 't', outcome: 'allow' });

    const { items } = await readDecisions(service, { agent: agent_name });
    const { received_at, ...record } = items[0] ?? {};
    expect(received_at).to.be.a('string');
    expect(record).to.deep.equal({
      event_id,
      occurred_at,
      agent_name,
      tool_name: 't',
      outcome: 'allow',
      role: '',
      error_type: '',
      reason: '',
      violations: [],
      hint: null,
      arguments: null,
      user_id: '',
      session_id: '',
      project_id: service.project_id,
      agent_version_id: '',
    });
  });

  it('answers 422 when a required field is missing', async () => {
    for (const field of Object.keys(REQUIRED)) {
      const event = decisionEvent({ [field]: undefined });

      expect(await outcomeOf(await sendDecision(service, event)), field).to.deep.equal(invalid);
    }
  });

  it('rejects null where a field has a default', async () => {
    for (const field of Object.keys(decisionEvent()).filter(
      (name) => name !== 'hint' && name !== 'arguments',
    )) {
      const event = decisionEvent({ [field]: null });

      expect(await outcomeOf(await sendDecision(service, event)), field).to.deep.equal(invalid);
    }
    expect(
      await outcomeOf(await sendDecision(service, decisionEvent({ hint: null, arguments: null }))),
    ).to.deep.equal(accepted);
  });

  it('answers 422 when a field has the wrong type or the outcome is not one of the three', async () => {
    const wrong: Record<string, unknown[]> = {
      hint: ['{}', 1, [], true],
      arguments: ['{}', 0, [{}], false],
      violations: ['v', {}, [1], [null]],
      outcome: ['Allow', 'denied', '', 1, ['allow'], { toString: 'allow' }],
    };
    for (const field of Object.keys(decisionEvent())) {
      for (const value of wrong[field] ?? [1, true, {}, ['x']]) {
        const event = decisionEvent({ [field]: value });

        expect(
          await outcomeOf(await sendDecision(service, event)),
          `${field} ${JSON.stringify(value)}`,
        ).to.deep.equal(invalid);
      }
    }
  });

  it('ignores unknown keys, including those that the server sets', async () => {
    const session_id = randomUUID();
    const foreign = {
      project_id: 'someone-else',
      agent_version_id: 'v-1',
      received_at: '2001-01-01T00:00:00.000Z',
      version: 1,
      constructor: 'x',
      anything: { nested: [1e300] },
    };

    const response = await sendDecision(service, decisionEvent({ session_id, ...foreign }));

    expect(response.status).to.equal(202);
    const { received_at, ...record } = await recordOf(session_id);
    expect(record).to.include({ project_id: service.project_id, agent_version_id: '' });
    expect(record).to.not.have.any.keys('version', 'anything');
    expect(received_at).to.not.equal(foreign.received_at);
    expect((await readDecisions(service, { window: '90d' }, 'someone-else')).total).to.equal(0);
  });

  it('accepts any RFC 4122 UUID and converts it to lower case, also in the answer', async () => {
    const uuids = [
      '00000000-0000-0000-0000-000000000000',
      'C232AB00-9414-11EC-B3C8-9E6BDECED846',
      '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
      'fFfFfFfF-FFFF-ffff-FFFF-FFFFFFFFFFFF',
    ];
    for (const event_id of uuids) {
      const session_id = randomUUID();

      const response = await sendDecision(service, decisionEvent({ event_id, session_id }));

      expect(await response.json()).to.deep.equal({ event_id: event_id.toLowerCase() });
      expect(await recordOf(session_id)).to.include({ event_id: event_id.toLowerCase() });
    }
  });

  it('returns 422 for an event_id that is not a UUID', async () => {
    const uuid = randomUUID();
    const wrong = [
      '',
      'x',
      uuid.replaceAll('-', ''),
      `{${uuid}}`,
      `urn:uuid:${uuid}`,
      `${uuid}0`,
      ` ${uuid}`,
      `${uuid}\n`,
      `g${uuid.slice(1)}`,
    ];
    for (const event_id of wrong) {
      expect(
        await outcomeOf(await sendDecision(service, decisionEvent({ event_id }))),
        event_id,
      ).to.deep.equal(invalid);
    }
  });
});
