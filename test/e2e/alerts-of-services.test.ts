import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { AlertStore } from '../../server/alerts/alert-store.ts';
import { Alerts } from '../../server/alerts/alerts.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { createLogger } from '../../server/logger.ts';
import { createMetrics } from '../../server/metrics.ts';
import { createBoundedStore } from '../../server/store/bounded-store.ts';
import { type Connection, connectServer } from '../../server/store/connection.ts';
import {
  alertedOwner,
  alertsOf,
  denialsNow,
  historyOf,
  send,
  startReceiver,
  times,
  watchOf,
} from '../support/alerts.ts';
import { startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { useCleanups } from '../support/cleanups.ts';
import { createServiceClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { providerEnv, startMailServer } from '../support/smtp-server.ts';
import { MINUTE_MS } from '../../server/durations.ts';

describe('the alerts of a project with several services', () => {
  const { cleanups, closing } = useCleanups();

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
    await eventually(() => receiver.received.length > 0);

    expect(rounds[0]?.n).to.be.at.least(3);
    expect(lists.map((list) => list.map(({ rule }) => rule))).to.deep.equal([[], ['denials'], [], []]);
    expect(receiver.received).to.have.lengthOf(1);
  });

  it('are evaluated by exactly one of several services in each minute', async () => {
    const server = await startClickHouse();
    cleanups.push(() => server.kill());
    const connections = [1, 2, 3].map(() =>
      closing(connectServer(clickhouseUrl(server.url), { settings: {}, silenceMsMax: 5000 })),
    );
    const evaluated: number[] = [];
    const services = connections.map((connection) =>
      evaluationOn(connection, (minute) => evaluated.push(minute)),
    );

    const minutes = times(10, (index) => Math.floor(Date.now() / MINUTE_MS - index) * MINUTE_MS) as number[];
    for (const minute of minutes) await Promise.all(services.map((service) => service.evaluate(minute)));

    expect(evaluated).to.deep.equal(minutes);
  });
});

/** The evaluation of one service on a store. One project has a rule on, and each look at its calls is reported. */
function evaluationOn(connection: Connection, onLook: (minuteMs: number) => void): Alerts {
  const { alerts: counter } = createMetrics({ isStoreUp: () => Promise.resolve(true) });
  const one = {
    project_id: randomUUID(),
    rules: { denials: true, new_names: true, silence: true },
    mutedUntilMs: 0,
    webhook: undefined,
  };
  return new Alerts({
    settings: { inUse: () => Promise.resolve([one]) },
    store: new AlertStore({
      store: createBoundedStore(connection, () => Promise.resolve()),
      mutex: new KeyedMutex(),
    }),
    reads: {
      at: ({ nowMs }) => {
        onLook(nowMs);
        return Promise.resolve(new Map());
      },
    },
    deliveries: { deliver: () => Promise.resolve(), stop: () => undefined },
    counter,
    logger: createLogger('silent'),
    now: Date.now,
  });
}

/** Resolves when one of the services has evaluated a minute that had not begun before. */
async function nextMinute(passMs: (ms: number) => void, server: ClickHouseServer): Promise<void> {
  const countOf = async () =>
    (await server.query<{ n: number }>('SELECT toUInt32(uniqExact(minute)) AS n FROM alert_rounds'))[0]?.n ??
    0;
  const before = await countOf();
  passMs(MINUTE_MS);
  await eventually(async () => (await countOf()) > before);
}
