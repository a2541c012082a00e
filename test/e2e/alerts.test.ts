import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { call, jsonOf, newPerson, type Person } from '../support/accounts.ts';
import {
  alertedOwner,
  alertsOf,
  change,
  denialsNow,
  historyOf,
  type Received,
  send,
  startReceiver,
  type AlertBody,
  watchOf,
} from '../support/alerts.ts';
import { useCleanups } from '../support/cleanups.ts';
import { createServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { issue } from '../support/keys.ts';
import { type RunningService, startTestService } from '../support/service.ts';
import { providerEnv, startMailServer } from '../support/smtp-server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/durations.ts';

/** Long enough for an evaluation on a busy machine. */
const EVALUATED_MS = 8000;

describe('the alerts of a project', () => {
  const { cleanups, closing } = useCleanups();

  it('are sent once by mail and by a signed webhook, with the exact range, and not while they are muted', async () => {
    const [mails, receiver] = [closing(await startMailServer()), closing(await startReceiver(1))];
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const service = await startTestService({ env });
    cleanups.push(() => service.stop());
    const { owner, secret, key } = await alertedOwner(service, mails, receiver.url);
    const arrived = (count: number) =>
      eventually(() => (receiver.received.length >= count ? receiver.received.at(-1) : undefined));
    // The library refuses timestamps more than five minutes ahead of its own clock.
    const opened = ({ headers, body }: Received) => {
      const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } = headers;
      const at = new Date(Number(seconds) * 1000);
      expect(signature).to.equal(new Webhook(secret).sign(String(id), at, body));
      return JSON.parse(body) as AlertBody;
    };
    await send(service, key, historyOf(at));

    await send(service, key, denialsNow(at));
    passMs(MINUTE_MS);
    const first = await arrived(1);
    const spike = new Webhook(secret).verify(
      first.body,
      first.headers as Record<string, string>,
    ) as AlertBody;
    passMs(MINUTE_MS);
    await send(service, key, [decisionEvent({ agent_name: 'clerk', tool_name: 'wire', occurred_at: at(0) })]);
    passMs(MINUTE_MS);
    const news = opened(await arrived(2));
    await change(service, owner, 'settings', { muted_until: at(HOUR_MS) });
    await send(service, key, [decisionEvent({ agent_name: 'spy', tool_name: 'look', occurred_at: at(0) })]);
    passMs(MINUTE_MS);
    await eventually(async () => (await alertsOf(service, owner)).length === 3);
    await change(service, owner, 'settings', { muted_until: null });
    passMs(HOUR_MS);
    const silence = opened(await arrived(3));
    const items = await eventually(async () => {
      const list = await alertsOf(service, owner);
      return list.some(({ state }) => state === 'pending') ? undefined : list;
    });
    const ofAlerts = mails.mails.filter(
      ({ to, subject }) => to === owner.email && !subject.startsWith('Verify'),
    );

    expect([spike, news, silence].map(({ type }) => type)).to.deep.equal([
      'alert.denials',
      'alert.new_names',
      'alert.silence',
    ]);
    expect(news.data).to.include({ agent_name: 'clerk', tool_name: 'wire', project_id: owner.project.id });
    expect(items.map(({ rule, state }) => [rule, state])).to.deep.equal([
      ['silence', 'sent'],
      ['new_names', 'muted'],
      ['new_names', 'sent'],
      ['denials', 'sent'],
    ]);
    const pageOf = (limit: number) =>
      jsonOf(
        call(service, `/v1/projects/${owner.project.id}/alerts?limit=${limit}`, { cookie: owner.cookie }),
      );
    expect(await pageOf(items.length)).to.deep.include({ items, next_cursor: null });
    expect(await pageOf(3)).to.deep.include({
      items: items.slice(0, 3),
      next_cursor: `${String(items[2]?.['fired_at'])}_${String(items[2]?.['id'])}`,
    });
    const { from = '', to = '' } = items[3] ?? {};
    const link = new URL(String(spike.data['url']));
    expect(Object.fromEntries(link.searchParams)).to.include({ from, to, agent: 'clerk', outcome: 'deny' });
    // Of the last minute, or of five if the denials were in the minute before.
    expect([MINUTE_MS, 5 * MINUTE_MS]).to.include(Date.parse(to) - Date.parse(from));
    expect(receiver.received).to.have.lengthOf(3);
    expect(ofAlerts).to.have.lengthOf(3);
    expect(ofAlerts[0]?.text).to.contain(String(spike.data['url']));
    expect(ofAlerts[0]?.subject).to.match(/^Gatehouse: \d+ of \d+ calls of clerk/);
  });

  it('are not sent to a webhook any more once it is removed, even if an attempt has failed before', async () => {
    const mails = closing(await startMailServer());
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const service = await startTestService({ env });
    cleanups.push(() => service.stop());
    const removed: Response[] = [];
    const remove = async () =>
      void removed.push(
        await call(service, `/v1/projects/${owner.project.id}/alerts/webhook`, {
          method: 'DELETE',
          cookie: owner.cookie,
        }),
      );
    const receiver = closing(await startReceiver(1, remove));
    const { owner, key } = await alertedOwner(service, mails, receiver.url);
    const calls = [-2 * DAY_MS, 0].map((ms) =>
      decisionEvent({ agent_name: `agent of ${ms}`, occurred_at: at(ms) }),
    );
    await send(service, key, calls);

    passMs(MINUTE_MS);
    await eventually(async () => (await alertsOf(service, owner))[0]?.state === 'sent');

    expect(removed.map(({ status }) => status)).to.deep.equal([204]);
    expect(receiver.received).to.deep.equal([]);
  });

  it('that a killed service left are delivered by the next one, and marked failed if nobody can be notified', async () => {
    const [mails, receiver] = [closing(await startMailServer()), closing(await startReceiver(1))];
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const first = await startTestService({ env });
    cleanups.push(() => first.kill());
    const { owner, secret, key } = await alertedOwner(first, mails, receiver.url);
    const unheard = await newPerson(first);
    await change(first, unheard, 'settings', { rules: { denials: true, new_names: false, silence: false } });
    const unheardKey = (await issue(first, unheard)).key;
    for (const each of [key, unheardKey])
      await send(first, each, [...historyOf(at), ...denialsNow(at)] as unknown[]);
    passMs(MINUTE_MS);
    /** An evaluation that fails, as it may on a busy machine, is covered by that of the next minute. */
    const evaluated = <T>(find: Parameters<typeof eventually<T>>[0]) => {
      let nextMs = performance.now() + EVALUATED_MS;
      return eventually(async () => {
        const found = await find();
        if (!found && performance.now() > nextMs) {
          nextMs += EVALUATED_MS;
          passMs(MINUTE_MS);
        }
        return found;
      });
    };
    const statesOf = async (service: RunningService, person: Person) =>
      (await alertsOf(service, person)).map(({ rule, state }) => [rule, state]);
    await evaluated(async () => (await statesOf(first, unheard))[0]?.[1] === 'failed');
    // The receiver has refused once, and the next attempt is a second away.
    await eventually(() => receiver.attempts() > 0);
    await first.kill();
    const left = receiver.received.length;

    const second = await startTestService({ dataDir: first.dataDir, env });
    cleanups.push(() => second.stop());
    passMs(MINUTE_MS);
    passMs(2 * MINUTE_MS);
    const message = await evaluated(() => receiver.received.at(-1));
    await eventually(async () => (await statesOf(second, owner))[0]?.[1] === 'sent');

    expect([left, receiver.received.length]).to.deep.equal([0, 1]);
    const {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': signature,
    } = message.headers;
    const [item] = await alertsOf(second, owner);
    expect(id).to.equal(item?.['id']);
    expect(signature).to.equal(
      new Webhook(secret).sign(String(id), new Date(Number(seconds) * 1000), message.body),
    );
    expect(await statesOf(second, unheard)).to.deep.equal([['denials', 'failed']]);
  });
});
