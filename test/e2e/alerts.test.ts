import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { AlertStore } from '../../server/alerts/alert-store.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { createBoundedStore } from '../../server/store/bounded-store.ts';
import { connectServer } from '../../server/store/connection.ts';
import { migrate } from '../../server/store/migrate.ts';
import { call, jsonOf, newPerson, type Person, requestToken, useToken } from '../support/accounts.ts';
import { MINUTE_MS } from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { createServiceClock, type ServiceClock } from '../support/clock.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { issue } from '../support/keys.ts';
import { type RunningService, startTestService } from '../support/service.ts';
import { type MailServer, providerEnv, startMailServer } from '../support/smtp-server.ts';

const HOUR_MS = 60 * MINUTE_MS;
const CALLS_AN_HOUR = 40;

type Told = { type: string; data: Record<string, unknown> };
type Received = { headers: IncomingHttpHeaders; body: string };
type Item = Record<string, unknown> & { rule: string; state: string; from: string; to: string };

/** A real receiver, which refuses the first attempts. */
async function startReceiver(refusals = 0) {
  const received: Received[] = [];
  let left = refusals;
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      left -= 1;
      if (left < 0) received.push({ headers: req.headers, body: Buffer.concat(chunks).toString() });
      res.writeHead(left < 0 ? 204 : 500).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: () => server.close(),
  };
}

/** A service's clock, and the time by it. */
function watchOf(clock: ServiceClock) {
  let aheadMs = 0;
  const passMs = (ms: number) => {
    aheadMs += ms;
    clock.passMs(ms);
  };
  return { passMs, at: (ms: number) => new Date(Date.now() + aheadMs + ms).toISOString() };
}

/** An owner with a verified address, all rules on, and a webhook. */
async function alertedOwner(service: RunningService, mails: MailServer, url: string) {
  const owner = await newPerson(service);
  await requestToken(service, 'verify', owner.email);
  const mail = await eventually(() => mails.mails.find(({ to }) => to === owner.email));
  await useToken(service, 'verify', /verify-email\/([\w-]{43})/.exec(mail.text)?.[1] ?? '');
  const { secret } = await jsonOf<{ secret: string }>(change(service, owner, 'webhook', { url }));
  const rules = { denials: true, new_names: true, silence: true };
  await change(service, owner, 'settings', { rules });
  return { owner, secret, key: (await issue(service, owner)).key };
}

function change(service: RunningService, { project, cookie }: Person, what: string, body: unknown) {
  return call(service, `/v1/projects/${project.id}/alerts/${what}`, { method: 'PUT', cookie, body });
}

async function alertsOf(service: RunningService, { project, cookie }: Person): Promise<Item[]> {
  return (await jsonOf<{ items: Item[] }>(call(service, `/v1/projects/${project.id}/alerts`, { cookie })))
    .items;
}

async function send(service: RunningService, key: string, events: unknown[]): Promise<void> {
  for (let from = 0; from < events.length; from += 1000)
    expect(await batchOutcome(sendBatch(service, events.slice(from, from + 1000), { key }))).to.include({
      status: 202,
    });
}

const times = (count: number, event: (index: number) => unknown) =>
  Array.from({ length: count }, (_, index) => event(index));

/** Nine days of an agent that calls steadily and is denied now and then. */
function historyOf(at: (ms: number) => string) {
  const hours = 9 * 24;
  return times(hours * CALLS_AN_HOUR, (index) =>
    decisionEvent({
      agent_name: 'clerk',
      tool_name: 'pay',
      outcome: index % 50 === 0 ? 'deny' : 'allow',
      occurred_at: at(-(index + 1) * (HOUR_MS / CALLS_AN_HOUR)),
    }),
  );
}

const denialsNow = (at: (ms: number) => string) =>
  times(30, () =>
    decisionEvent({ agent_name: 'clerk', tool_name: 'pay', outcome: 'deny', occurred_at: at(-1000) }),
  );

const cleanups: (() => unknown)[] = [];

/** Closed at the end of the test, also of one that fails. */
function closing<T extends { close: () => unknown }>(server: T): T {
  cleanups.push(() => server.close());
  return server;
}

describe('the alerts of a project', () => {
  afterEach(async () => {
    for (const close of cleanups.splice(0).toReversed()) await close();
  });

  it('are told once by mail and by a signed webhook, with the very range, and not while they are muted', async () => {
    const [mails, receiver] = [closing(await startMailServer()), closing(await startReceiver(1))];
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const service = await startTestService({ env });
    cleanups.push(() => service.stop());
    const { owner, secret, key } = await alertedOwner(service, mails, receiver.url);
    const arrived = (count: number) =>
      eventually(() => (receiver.received.length >= count ? receiver.received.at(-1) : undefined));
    // The library refuses what is more than five minutes ahead of its own clock.
    const opened = ({ headers, body }: Received) => {
      const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signature } = headers;
      const at = new Date(Number(seconds) * 1000);
      expect(signature).to.equal(new Webhook(secret).sign(String(id), at, body));
      return JSON.parse(body) as Told;
    };
    await send(service, key, historyOf(at));

    await send(service, key, denialsNow(at));
    passMs(MINUTE_MS);
    const first = await arrived(1);
    const spike = new Webhook(secret).verify(first.body, first.headers as Record<string, string>) as Told;
    passMs(MINUTE_MS);
    await send(service, key, [decisionEvent({ agent_name: 'clerk', tool_name: 'wire', occurred_at: at(0) })]);
    passMs(MINUTE_MS);
    const news = opened(await arrived(2));
    await change(service, owner, 'settings', { muted_until: at(HOUR_MS) });
    await send(service, key, [decisionEvent({ agent_name: 'spy', tool_name: 'look', occurred_at: at(0) })]);
    passMs(MINUTE_MS);
    await eventually(async () => ((await alertsOf(service, owner)).length === 3 ? true : undefined));
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
    const { from = '', to = '' } = items[3] ?? {};
    const link = new URL(String(spike.data['url']));
    expect(Object.fromEntries(link.searchParams)).to.include({ from, to, agent: 'clerk', outcome: 'deny' });
    expect(Date.parse(to) - Date.parse(from)).to.equal(5 * MINUTE_MS);
    expect(receiver.received).to.have.lengthOf(3);
    expect(ofAlerts).to.have.lengthOf(3);
    expect(ofAlerts[0]?.text).to.contain(String(spike.data['url']));
    expect(ofAlerts[0]?.subject).to.match(/^Gatehouse: \d+ of \d+ calls of clerk/);
  });

  it('are told once by two services on one store, for one project of several', async () => {
    const server = await startClickHouse();
    cleanups.push(() => server.kill());
    const [mails, receiver] = [closing(await startMailServer()), closing(await startReceiver())];
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const [one, two] = await startPair(server, env);
    cleanups.push(() => Promise.all([one.stop(), two.stop()]));
    const owners: Awaited<ReturnType<typeof alertedOwner>>[] = [];
    for (let index = 0; index < 4; index += 1) owners.push(await alertedOwner(one, mails, receiver.url));
    for (const { key } of owners) await send(one, key, historyOf(at));
    const [, spiked] = owners;

    await send(two, spiked?.key ?? '', denialsNow(at));
    for (let minute = 0; minute < 3; minute += 1) await nextMinute(passMs, server);
    const rounds = await server.query<{ n: number }>(
      'SELECT toUInt32(uniqExact(minute)) AS n FROM alert_rounds',
    );
    const lists = await Promise.all(owners.map(({ owner }) => alertsOf(two, owner)));
    await eventually(() => (receiver.received.length > 0 ? true : undefined));

    expect(rounds[0]?.n).to.be.at.least(3);
    expect(lists.map((list) => list.map(({ rule }) => rule))).to.deep.equal([[], ['denials'], [], []]);
    expect(receiver.received).to.have.lengthOf(1);
  });

  it('are evaluated by exactly one of several services in each minute', async () => {
    const server = await startClickHouse();
    cleanups.push(() => server.kill());
    const settings = { ...clickhouseUrl(server.url), database: 'default' };
    const connections = [1, 2, 3].map(() =>
      closing(connectServer(settings, { settings: {}, silenceMsMax: 5000 })),
    );
    const [first] = connections;
    if (first !== undefined) await migrate(first);
    const services = connections.map(
      (connection) =>
        new AlertStore({
          store: createBoundedStore(connection, () => Promise.resolve()),
          mutex: new KeyedMutex(),
        }),
    );

    const minutes = times(10, (index) => Math.floor(Date.now() / MINUTE_MS - index) * MINUTE_MS) as number[];
    const holders: number[] = [];
    for (const minute of minutes) {
      const claims = await Promise.all(services.map((service) => service.claimMinute(minute)));
      holders.push(claims.filter(Boolean).length);
    }

    expect(holders).to.deep.equal(minutes.map(() => 1));
  });
});

/** Resolves when one of the services has evaluated a minute that had not begun before. */
async function nextMinute(passMs: (ms: number) => void, server: ClickHouseServer): Promise<void> {
  const countOf = async () =>
    (await server.query<{ n: number }>('SELECT toUInt32(uniqExact(minute)) AS n FROM alert_rounds'))[0]?.n ??
    0;
  const before = await countOf();
  passMs(MINUTE_MS);
  await eventually(async () => ((await countOf()) > before ? true : undefined));
}
