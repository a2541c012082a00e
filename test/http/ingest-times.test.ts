import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { accepted, invalid, outcomeOf, readDecisions, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { useSharedService } from '../support/shared-service.ts';
import { DAY_MS, MINUTE_MS } from '../../server/durations.ts';

/** An hour ago, to the second: `2026-01-02T03:04:05`. */
function localTime(): string {
  return timeFromNow(-60 * MINUTE_MS).slice(0, 19);
}

describe('occurred_at', () => {
  const service = useSharedService();

  async function storedTime(occurred_at: string): Promise<unknown> {
    const session_id = randomUUID();
    const response = await sendDecision(service, decisionEvent({ occurred_at, session_id }));
    expect(await outcomeOf(response), occurred_at).to.deep.equal(accepted);
    return (await readDecisions(service, { session_id, window: '90d' })).items[0]?.occurred_at;
  }

  it('may have any number of fraction digits, and is cut to milliseconds', async () => {
    const time = localTime();
    const cases: Record<string, string> = {
      '': '000',
      '.1': '100',
      '.12': '120',
      '.1239': '123',
      '.999999999': '999',
      [`.0009${'9'.repeat(300)}`]: '000',
    };
    for (const [fraction, ms] of Object.entries(cases)) {
      expect(await storedTime(`${time}${fraction}Z`)).to.equal(`${time}.${ms}Z`);
    }
  });

  it('may have any zone, and is stored in UTC', async () => {
    const time = localTime();
    const utcMs = Date.parse(`${time}Z`);
    const cases: Record<string, number> = {
      '+00:00': 0,
      '-00:00': 0,
      '+02:00': -120,
      '-05:30': 330,
      '+14:00': -840,
      '-12:00': 720,
      '+23:59': -1439,
    };
    for (const [zone, minutes] of Object.entries(cases)) {
      const local = new Date(utcMs - minutes * MINUTE_MS).toISOString().slice(0, 19);
      expect(await storedTime(`${local}.5${zone}`)).to.equal(`${time}.500Z`);
    }
  });

  it('may use t and z in lower case', async () => {
    const time = localTime();

    expect(await storedTime(`${time.replace('T', 't')}.25z`)).to.equal(`${time}.250Z`);
  });

  it('is accepted just within 5 minutes ahead and 90 days back', async () => {
    for (const ms of [5 * MINUTE_MS - 100, -90 * DAY_MS + 2000]) {
      const occurred_at = timeFromNow(ms);
      expect(await outcomeOf(await sendDecision(service, decisionEvent({ occurred_at })))).to.deep.equal(
        accepted,
      );
    }
  });

  it('is 400 far in the past and in the future', async () => {
    for (const occurred_at of [
      '0001-01-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '2999-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59-23:59',
    ]) {
      const outcome = await outcomeOf(await sendDecision(service, decisionEvent({ occurred_at })));
      expect(outcome, occurred_at).to.deep.equal({ status: 400, code: 'occurred_at_out_of_range' });
    }
  });

  it('is 422 when it is not RFC 3339 with a zone', async () => {
    const day = localTime().slice(0, 10);
    const time = localTime();
    const wrong = [
      '',
      'now',
      day,
      time,
      `${time}.5`,
      `${time.replace('T', ' ')}Z`,
      `${time.replace('T', '_')}Z`,
      `${day}T10:20:60Z`,
      `${day}T23:59:60Z`,
      `${day}T24:00:00Z`,
      `${day}T10:60:00Z`,
      `${day}T10:20Z`,
      `${day}T1:20:30Z`,
      `${time}.Z`,
      `${time},5Z`,
      `${time}+0200`,
      `${time}+02`,
      `${time}+24:00`,
      `${time}+02:60`,
      `${time} Z`,
      ` ${time}Z`,
      `${time}Z\n`,
      `${time}Z `,
      `${time}ZZ`,
      `+00${time}Z`,
      `${time.slice(0, 5)}13-01T00:00:00Z`,
      `${time.slice(0, 5)}00-10T00:00:00Z`,
      `${time.slice(0, 5)}02-30T00:00:00Z`,
      `${time.slice(0, 5)}04-31T00:00:00Z`,
      '2025-02-29T00:00:00Z',
      String(Date.now()),
      `${time.replace(/\d$/, '٣')}Z`,
      new Date().toUTCString(),
    ];
    for (const occurred_at of wrong) {
      const outcome = await outcomeOf(await sendDecision(service, decisionEvent({ occurred_at })));
      expect(outcome, occurred_at).to.deep.equal(invalid);
    }
  });
});
