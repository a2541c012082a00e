import { expect } from 'chai';
import { DAY_MS, invalid, MINUTE_MS, outcomeOf, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent, post } from '../support/events.ts';
import { type RunningService } from '../support/service.ts';
import { sharedService } from '../support/shared-service.ts';

/** Its other rows need a store that refuses or is away: rejected-row.test.ts, store-away.test.ts. */
describe('the statuses of POST /v1/audit/decisions', () => {
  let service: RunningService;
  before(async () => {
    service = await sharedService();
  });

  it('202 with the event_id, and nothing else, when the row is written', async () => {
    const event = decisionEvent();

    const response = await sendDecision(service, event);

    expect(response.status).to.equal(202);
    expect(response.headers.get('Content-Type')).to.match(/^application\/json/);
    expect(await response.json()).to.deep.equal({ event_id: event['event_id'] });
  });

  it('400 when occurred_at is more than 5 minutes in the future', async () => {
    const event = decisionEvent({ occurred_at: timeFromNow(5 * MINUTE_MS + 2000) });

    const outcome = await outcomeOf(await sendDecision(service, event));

    expect(outcome).to.deep.equal({ status: 400, code: 'occurred_at_out_of_range' });
  });

  it('400 when occurred_at is older than 90 days', async () => {
    const event = decisionEvent({ occurred_at: timeFromNow(-90 * DAY_MS - 1) });

    const outcome = await outcomeOf(await sendDecision(service, event));

    expect(outcome).to.deep.equal({ status: 400, code: 'occurred_at_out_of_range' });
  });

  it('401 when the bearer key is missing', async () => {
    const outcome = await outcomeOf(await post(`${service.url}/v1/audit/decisions`, decisionEvent()));

    expect(outcome).to.deep.equal({ status: 401, code: 'unauthenticated' });
  });

  it('413 when arguments are over 8 KiB after JSON serialization', async () => {
    const event = decisionEvent({ arguments: { a: 'x'.repeat(8192) } });

    expect(await outcomeOf(await sendDecision(service, event))).to.deep.equal({
      status: 413,
      code: 'arguments_too_large',
    });
  });

  it('413 when hint is over 4 KiB after JSON serialization', async () => {
    const event = decisionEvent({ hint: { a: 'x'.repeat(4096) } });

    expect(await outcomeOf(await sendDecision(service, event))).to.deep.equal({
      status: 413,
      code: 'hint_too_large',
    });
  });

  it('422 when a length is over its bound', async () => {
    const event = decisionEvent({ role: 'x'.repeat(101) });

    expect(await outcomeOf(await sendDecision(service, event))).to.deep.equal(invalid);
  });

  it('422 when the outcome is none of the three', async () => {
    for (const outcome of ['Allow', 'denied', '', 1, null, ['allow'], { toString: 'allow' }]) {
      expect(
        await outcomeOf(await sendDecision(service, decisionEvent({ outcome }))),
        JSON.stringify(outcome),
      ).to.deep.equal(invalid);
    }
  });
});
