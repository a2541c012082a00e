import { expect } from 'chai';
import { pino } from 'pino';
import type { Alert } from '../../server/alerts/alert.ts';
import { AlertStore } from '../../server/alerts/alert-store.ts';
import { Alerts } from '../../server/alerts/alerts.ts';
import { clickhouseUrl } from '../../server/config-values.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { createMetrics } from '../../server/metrics.ts';
import { createBoundedStore } from '../../server/store/bounded-store.ts';
import { type Connection, connectServer } from '../../server/store/connection.ts';
import { newPerson } from '../support/accounts.ts';
import {
  alertedOwner,
  alertsOf,
  denialsNow,
  historyOf,
  send,
  startReceiver,
  watchOf,
} from '../support/alerts.ts';
import { onServer, startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { useCleanups } from '../support/cleanups.ts';
import { createServiceClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService } from '../support/service.ts';
import { providerEnv, startMailServer } from '../support/smtp-server.ts';
import { DAY_MS, MINUTE_MS } from '../../server/durations.ts';

/** The last ten, because the store keeps for a day which service evaluated a minute. */
const MINUTES = Array.from(
  { length: 10 },
  (_, index) => Math.floor(Date.now() / MINUTE_MS + index - 10) * MINUTE_MS,
);

describe('the alerts of a project with several services', () => {
  const { cleanups, closing } = useCleanups();
  let server: ClickHouseServer;
  before(async () => void (server = await startClickHouse()));
  after(() => server.kill());

  /** Connections to the store, in which nothing has been evaluated. */
  async function connectTo(count: number): Promise<Connection[]> {
    for (const table of ['alert_rounds', 'alerts']) await server.query(`TRUNCATE TABLE ${table}`);
    return Array.from({ length: count }, () =>
      closing(connectServer(clickhouseUrl(server.url), { settings: {}, silenceMsMax: 5000 })),
    );
  }

  it('are reported once by two services on one store, for one project of several', async () => {
    const [mails, receiver] = [closing(await startMailServer()), closing(await startReceiver())];
    const clock = createServiceClock();
    const { passMs, at } = watchOf(clock);
    const env = { ...providerEnv(mails.url), ...clock.env, GATE_WEBHOOK_PRIVATE: '1' };
    const [one, two] = await startPair(server, env);
    cleanups.push(() => Promise.all([one.stop(), two.stop()]));
    const owners: Awaited<ReturnType<typeof alertedOwner>>[] = [];
    for (let index = 0; index < 3; index += 1) owners.push(await alertedOwner(one, mails, receiver.url));
    for (const { key } of owners) await send(one, key, historyOf(at));
    const [, spiked] = owners;

    await send(two, spiked?.key ?? '', denialsNow(at));
    for (let minute = 0; minute < 3; minute += 1) await nextMinute(passMs, server);
    const rounds = await server.query<{ n: number }>(
      'SELECT toUInt32(uniqExact(minute)) AS n FROM alert_rounds',
    );
    // A minute is taken before it is evaluated.
    await eventually(() => receiver.received.length > 0);
    const lists = await Promise.all(owners.map(({ owner }) => alertsOf(two, owner)));

    expect(rounds[0]?.n).to.be.at.least(3);
    expect(lists.map((list) => list.map(({ rule }) => rule))).to.deep.equal([[], ['denials'], []]);
    expect(receiver.received).to.have.lengthOf(1);
  });

  it('are evaluated by exactly one of several services in each minute', async () => {
    const connections = await connectTo(3);
    const evaluated: number[] = [];
    const services = connections.map((connection) =>
      evaluationOn(connection, { onLook: (minute) => evaluated.push(minute) }),
    );

    for (const minute of MINUTES) await Promise.all(services.map((service) => service.evaluate(minute)));

    expect(evaluated).to.deep.equal(MINUTES);
  });

  it('are delivered by one service, however long it takes, and by another when it is gone', async () => {
    const connections = await connectTo(2);
    const delivered: string[] = [];
    const endless = () => new Promise<void>(() => undefined);
    const [one, two] = connections.map((connection, index) =>
      evaluationOn(connection, {
        deliver: () => {
          delivered.push(['one', 'two'][index] ?? '');
          return endless();
        },
      }),
    );
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = MINUTES;

    await one?.evaluate(first);
    await one?.evaluate(second);
    await two?.evaluate(third);
    const whileItLives = [...delivered];
    for (const minute of [fourth, fifth]) await two?.evaluate(minute);

    expect(whileItLives).to.deep.equal(['one']);
    expect(delivered).to.deep.equal(['one', 'two']);
  });

  it('continue for the other projects when one cannot be read or stored, which is reported once', async () => {
    const [connection] = await connectTo(1);
    const delivered: unknown[] = [];
    const warned: unknown[] = [];
    const service = evaluationOn(
      {
        ...(connection as Connection),
        insert: async (rows) => {
          if (rows.lines.some((line) => line.includes('refused'))) throw new Error('refused');
          await connection?.insert(rows);
        },
      },
      {
        projectIds: ['first', 'refused', 'unread', 'last'],
        deliver: async ([alert]) => void delivered.push(alert?.project_id),
        onWarning: ({ project_id }) => warned.push(project_id),
      },
    );

    for (const minute of MINUTES.slice(0, 2)) await service.evaluate(minute);

    expect(delivered).to.deep.equal(['first', 'last']);
    expect(warned).to.deep.equal(['refused', 'unread']);
  });

  it('are failed after an hour in which no service delivered them, even if all rules are off by now', async () => {
    // Another service has made the demo of this store.
    const service = await startTestService({ env: { ...onServer(server), GATE_DEMO: '0' } });
    cleanups.push(() => service.stop());
    const owner = await newPerson(service);
    const columns = 'project_id, fired_at, alert_id, rule, agent_name, state, version';
    for (const minutes of [30, 90])
      await server.query(
        `INSERT INTO alerts (${columns}) SELECT '${owner.project.id}', now64(3) - INTERVAL ${minutes} MINUTE, generateUUIDv4(), 'denials', 'clerk', 'pending', 1`,
      );

    const states = (await alertsOf(service, owner)).map(({ state }) => state);

    expect(states).to.deep.equal(['pending', 'failed']);
  });

  it('of many projects take fewer statements than there are projects', async () => {
    const [connection] = await connectTo(1);
    const projectIds = Array.from({ length: 100 }, (_, index) => `project ${index}`);
    const delivered: unknown[] = [];
    let statements = 0;
    const counted = {
      ...(connection as Connection),
      query: async (...statement) => {
        statements += 1;
        return (connection as Connection).query(...statement);
      },
      insert: async (rows) => {
        statements += 1;
        await connection?.insert(rows);
      },
    } satisfies Connection;
    const service = evaluationOn(counted, {
      projectIds,
      deliver: async ([alert]) => void delivered.push(alert?.project_id),
    });

    await service.evaluate(MINUTES[0] ?? 0);

    expect(delivered).to.deep.equal(projectIds);
    expect(statements).to.be.below(20);
  });
});

type Evaluation = {
  projectIds?: string[];
  onLook?: (minuteMs: number) => unknown;
  deliver?: (alerts: Alert[]) => Promise<void>;
  onWarning?: (line: { project_id?: string }) => unknown;
};

/**
 * The evaluation of one service on a store. In each project an agent has a new tool, and each evaluation of them is reported. The data of
 * the project "unread" is too much to be read.
 */
function evaluationOn(
  connection: Connection,
  { projectIds = ['shop'], onLook, deliver = () => Promise.resolve(), onWarning }: Evaluation,
): Alerts {
  const { alerts: counter } = createMetrics({ isStoreUp: () => Promise.resolve(true) });
  const rules = { denials: false, new_names: true, silence: false };
  const inUse = projectIds.map((project_id) => ({
    project_id,
    rules,
    mutedUntilMs: 0,
    webhook: undefined,
  }));
  const once = { total: 1, denied: 0 };
  const call = { agent_name: 'clerk', tool_name: 'wire', minute: once, short: once, long: once };
  const store = createBoundedStore(connection, () => Promise.resolve());
  return new Alerts({
    settings: { inUse: () => Promise.resolve(inUse) },
    store: new AlertStore({ store, mutex: new KeyedMutex(store) }),
    reads: {
      at: ({ nowMs }) => {
        onLook?.(nowMs);
        const counts = [{ ...call, firstMs: nowMs - 1, lastMs: nowMs - 1 }];
        const history = [{ agent_name: 'clerk', tool_name: 'pay', ...once, firstMs: nowMs - 2 * DAY_MS }];
        const read = projectIds.filter((id) => id !== 'unread');
        return Promise.resolve(new Map(read.map((id) => [id, { counts, history, agents: [] }])));
      },
    },
    deliveries: { deliver, stop: () => undefined },
    counter,
    logger: pino({ level: 'warn' }, { write: (line) => void onWarning?.(JSON.parse(line) as object) }),
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
