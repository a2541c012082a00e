import { expect } from 'chai';
import { createServer } from 'node:http';
import { createMetrics } from '../../../server/metrics.ts';
import { createLogger } from '../../../server/logger.ts';
import type { Alert } from '../../../server/alerts/alert.ts';
import { Deliveries, type DeliveryDeps } from '../../../server/alerts/deliveries.ts';
import type { AlertMail } from '../../../server/mail/messages.ts';
import { type Received, startReceiver, type AlertBody } from '../../support/alerts.ts';
import { eventually } from '../../support/eventually.ts';
import { listen } from '../../support/listen.ts';

const ALERT: Alert = {
  id: '00000000-0000-8000-8000-000000000000',
  project_id: 'p',
  fired_at: '2026-03-02T00:00:00.000Z',
  rule: 'denials',
  agent_name: 'clerk',
  tool_name: 'pay',
  range_from: '2026-03-01T23:55:00.000Z',
  range_to: '2026-03-02T00:00:00.000Z',
  total: 30,
  denied: 30,
  usual_total: 1000,
  usual_denied: 20,
  state: 'pending',
  renewed_at: '2026-03-02T00:00:00.000Z',
};
const RETRIES = 3;
const SETTINGS = {
  project_id: 'p',
  rules: { denials: true, new_names: true, silence: true },
  mutedUntilMs: 0,
};
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function createDeliveries(deps: Partial<DeliveryDeps> = {}): Deliveries {
  return new Deliveries({
    mailer: { postAlert: () => Promise.resolve(true) },
    audienceOf: () => Promise.resolve({ name: 'Shop', emails: [] }),
    webhookOf: () => Promise.resolve(undefined),
    dashboardUrl: 'http://localhost',
    mayBePrivate: true,
    retryMs: Array.from({ length: RETRIES }, () => 0),
    counter: createMetrics({ isStoreUp: () => Promise.resolve(true) }).alertWebhooks,
    logger: createLogger('silent'),
    now: Date.now,
    ...deps,
  });
}

/** Delivers to a receiver that refuses this many attempts, without delays between them. */
async function delivered(
  refusals: number,
  emails: string[],
  {
    alerts = [ALERT],
    isTaken = true,
    stopsAfter = Infinity,
    project = 'Shop',
    onMail = (_mail: AlertMail): unknown => 0,
    onReport = (_received: Received[]): unknown => 0,
  } = {},
) {
  const receiver = await startReceiver(refusals);
  const { alertWebhooks: counter } = createMetrics({ isStoreUp: () => Promise.resolve(true) });
  const mails: string[] = [];
  const notified: [string, boolean][] = [];
  let asked = 0;
  const webhook = { url: receiver.url, secret: SECRET };
  const deliveries = createDeliveries({
    webhookOf: () => Promise.resolve(webhook),
    mailer: {
      postAlert: (mail) => {
        onMail(mail);
        mails.push(mail.to);
        return Promise.resolve(isTaken);
      },
    },
    audienceOf: () => Promise.resolve({ name: project, emails }),
    counter,
    // Asked once for each attempt.
    now: () => {
      if (asked === stopsAfter) deliveries.stop();
      asked += 1;
      return Date.now();
    },
  });
  await deliveries.deliver(alerts, { ...SETTINGS, webhook }, ({ id }, isNotified) => {
    notified.push([id, isNotified]);
    onReport(receiver.received);
    return Promise.resolve();
  });
  receiver.close();
  const counts = (await counter.get()).values.map(({ labels, value }) => [labels.result, value]);
  return {
    notified: notified.map(([, isNotified]) => isNotified),
    mails,
    attempts: receiver.attempts(),
    received: receiver.received.length,
    ...Object.fromEntries(counts),
  };
}

describe('the delivery of an alert', () => {
  it('ends after the last attempt at a webhook, as failed if no mail was sent either', async () => {
    const all = { attempts: RETRIES + 1, received: 0, sent: 0, retried: RETRIES, failed: 1 };
    expect(await delivered(99, [])).to.deep.equal({ ...all, notified: [false], mails: [] });
    expect(await delivered(99, ['a@example.com'])).to.deep.equal({
      ...all,
      notified: [true],
      mails: ['a@example.com'],
    });
  });

  it('ends with the first attempt that arrives', async () => {
    const all = { attempts: RETRIES + 1, received: 1, sent: 1, retried: RETRIES, failed: 0 };
    expect(await delivered(RETRIES, [])).to.deep.equal({ ...all, notified: [true], mails: [] });
  });

  it('signs each attempt with the time of the attempt', async () => {
    const receiver = await startReceiver(RETRIES);
    let seconds = 1_700_000_000;
    const webhook = { url: receiver.url, secret: SECRET };
    const deliveries = createDeliveries({
      webhookOf: () => Promise.resolve(webhook),
      now: () => (seconds += 60) * 1000,
    });

    await deliveries.deliver([ALERT], { ...SETTINGS, webhook }, () => Promise.resolve());
    receiver.close();

    const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(times).to.deep.equal([1_700_000_000 + 60 * (RETRIES + 1)]);
  });

  it('goes to the webhook as last known while the store does not answer', async () => {
    const receiver = await startReceiver();
    const webhook = { url: receiver.url, secret: SECRET };
    const deliveries = createDeliveries({ webhookOf: () => Promise.reject(new Error('away')) });

    await deliveries.deliver([ALERT], { ...SETTINGS, webhook }, () => Promise.resolve());
    receiver.close();

    expect(receiver.received).to.have.lengthOf(1);
  });

  it('sends one mail for a thousand alerts, and spares a receiver that fails permanently', async () => {
    const alerts = Array.from({ length: 1000 }, (_, index) => ({ ...ALERT, id: `${index}` }));

    const { notified, ...counts } = await delivered(9999, ['a@example.com'], { alerts });

    expect(counts).to.deep.equal({
      mails: ['a@example.com'],
      attempts: RETRIES + 1,
      received: 0,
      sent: 0,
      retried: RETRIES,
      failed: 1,
    });
    expect(notified).to.deep.equal(alerts.map(() => true));
  });

  it('interrupted by a stop is done for sent webhooks, and left to the next service for the others', async () => {
    const alerts = Array.from({ length: 4 }, (_, index) => ({ ...ALERT, id: `${index}` }));

    const { notified, received } = await delivered(0, ['a@example.com'], { alerts, stopsAfter: 2 });

    expect({ notified, received }).to.deep.equal({ notified: [true, true], received: 2 });
  });

  it('is reported for each alert when it ends, not when all end', async () => {
    const alerts = Array.from({ length: 3 }, (_, index) => ({ ...ALERT, id: `${index}` }));

    const receivedThen: number[] = [];

    await delivered(0, ['a@example.com'], { alerts, onReport: ({ length }) => receivedThen.push(length) });

    expect(receivedThen).to.deep.equal([1, 2, 3]);
  });

  it('does not wait for the receivers of fifty other projects that hang', async () => {
    const [hanging, receiver] = [createServer(), await startReceiver()];
    const url = `http://127.0.0.1:${await listen(hanging)}`;
    const webhookAt = (address: string) => ({ url: address, secret: SECRET });
    const deliveries = createDeliveries({ webhookOf: (address) => Promise.resolve(webhookAt(address)) });
    const notified: boolean[] = [];
    const deliverTo = (address: string) =>
      deliveries.deliver(
        [{ ...ALERT, project_id: address }],
        { ...SETTINGS, webhook: webhookAt(address) },
        (_, isNotified) => Promise.resolve(void notified.push(isNotified)),
      );

    const stuck = Array.from({ length: 50 }, () => deliverTo(url));
    await deliverTo(receiver.url);

    expect(notified).to.deep.equal([true]);
    deliveries.stop();
    await Promise.all(stuck);
    hanging.close();
    receiver.close();
  });

  it('of many projects begins with few statements at once, and with no more of them after a stop', async () => {
    const asked: PromiseWithResolvers<{ name: string; emails: string[] }>[] = [];
    const deliveries = createDeliveries({
      audienceOf: () => {
        const audience = Promise.withResolvers<{ name: string; emails: string[] }>();
        asked.push(audience);
        return audience.promise;
      },
    });
    const settings = { ...SETTINGS, webhook: undefined };
    const all = Array.from({ length: 50 }, () =>
      deliveries.deliver([ALERT], settings, () => Promise.resolve()),
    );

    const askedFirst = asked.length;
    deliveries.stop();
    for (const { resolve } of asked) resolve({ name: 'Shop', emails: [] });
    await Promise.allSettled(all);

    expect([askedFirst, asked.length]).to.deep.equal([4, 4]);
  });

  it('of many projects gives the mailer a few mails at a time, and none after a stop', async () => {
    const waiting: PromiseWithResolvers<boolean>[] = [];
    const notified: boolean[] = [];
    const deliveries = createDeliveries({
      audienceOf: () => Promise.resolve({ name: 'Shop', emails: ['a@example.com'] }),
      mailer: {
        postAlert: () => {
          waiting.push(Promise.withResolvers<boolean>());
          return waiting.at(-1)?.promise ?? Promise.resolve(false);
        },
      },
    });
    const settings = { ...SETTINGS, webhook: undefined };
    const all = Array.from({ length: 200 }, () =>
      deliveries.deliver([ALERT], settings, (_, isNotified) =>
        Promise.resolve(void notified.push(isNotified)),
      ),
    );

    await eventually(() => waiting.length === 64);
    waiting[0]?.resolve(true);
    await eventually(() => notified.length > 0 && waiting.length === 65);
    deliveries.stop();
    await Promise.all(all);

    expect(waiting).to.have.lengthOf(65);
    expect(notified).to.deep.equal([true]);
  });

  it('names the project in one line, whatever its name', async () => {
    const names: unknown[] = [];

    await delivered(0, ['a@example.com'], {
      project: 'Shop.\r\nPay here:\u202e',
      onMail: (mail) => names.push(mail.project),
      onReport: ([post]) => names.push((JSON.parse(post?.body ?? '') as AlertBody).data['project_name']),
    });

    const name = 'Shop.\u{fffd}\u{fffd}Pay here:\u{fffd}';
    expect(names).to.deep.equal([name, name]);
  });

  it('counts a mail only when the provider has accepted it', async () => {
    expect(await delivered(99, ['a@example.com'], { isTaken: false })).to.deep.include({ notified: [false] });
  });
});
