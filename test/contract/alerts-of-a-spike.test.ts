import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { AccountStore } from '../../server/accounts/account-store.ts';
import { AlertReads } from '../../server/alerts/alert-reads.ts';
import { alertFrom } from '../../server/alerts/alert.ts';
import { createAlerts } from '../../server/alerts/create-alerts.ts';
import { readConfig } from '../../server/config.ts';
import { KeyedMutex } from '../../server/keyed-mutex.ts';
import { createLogger } from '../../server/logger.ts';
import { ALERT_NAMES_MAX } from '../../server/limits.ts';
import { createMailer } from '../../server/mail/mailer.ts';
import { Members } from '../../server/members/members.ts';
import { createMetrics } from '../../server/metrics.ts';
import { Projects } from '../../server/projects/projects.ts';
import { createReads } from '../../server/records/days.ts';
import { createBoundedStore } from '../../server/store/bounded-store.ts';
import { sql } from '../../server/store/sql.ts';
import { createStore } from '../../server/store/store.ts';
import { clickhouseTime } from '../../server/store/time.ts';
import { startReceiver, type AlertBody } from '../support/alerts.ts';
import { eventually } from '../support/eventually.ts';
import { storeDirectory } from '../support/service.ts';
import { providerEnv, startMailServer } from '../support/smtp-server.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../server/durations.ts';

const PROJECTS = 100;
const CALLS_A_MINUTE = 7200;
/** Half past a past hour: the store keeps for a day which service evaluated a minute. */
const NOW_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - HOUR_MS / 2;
/** Two hours of full traffic after a quiet day. */
const START_MS = NOW_MS - 26.5 * HOUR_MS;

/**
 * The traffic of the fleet: steady calls, each derived from its number alone, for one of 100 projects with 10 agents of 5 tools each; 3 %
 * are denied. The first 24 hours have a 24th of it.
 */
const TRAFFIC = `
  INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, version)
  WITH {from_call: UInt64} + number AS call, sipHash64(call) AS h, h % 50 AS tool
  SELECT {project_ids: Array(String)}[intHash64(h) % ${PROJECTS} + 1], generateUUIDv4(),
    toDateTime64({start: DateTime64(3, 'UTC')}, 3, 'UTC') + toIntervalMillisecond(intDiv(call * 60000, ${CALLS_A_MINUTE})) AS at, at,
    concat('agent-', toString(tool % 10)), concat('tool-', toString(tool)), if(intHash64(h + 1) % 100 < 3, 'deny', 'allow'), 1
  FROM numbers({calls: UInt64})
  WHERE call >= ${24 * 60 * CALLS_A_MINUTE} OR intHash64(h + 2) % 24 = 0`;

/** Denials of one tool, 0.1 % of the fleet's calls, evenly in a part of a minute. */
const SPIKE = `
  INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, version)
  WITH toDateTime64({begin: DateTime64(3, 'UTC')}, 3, 'UTC') + toIntervalMillisecond(intDiv(number * 60000000, ${CALLS_A_MINUTE})) AS at
  SELECT {project_id: String}, generateUUIDv4(), at, at, 'agent-7', 'tool-17', 'deny', 1
  FROM numbers(100)
  WHERE at >= {from: DateTime64(3, 'UTC')} AND at < {until: DateTime64(3, 'UTC')}`;

/** Calls of one agent at one time, each of a different tool. */
const CALLS = `
  INSERT INTO decisions (project_id, event_id, occurred_at, received_at, agent_name, tool_name, outcome, version)
  SELECT {project_id: String}, generateUUIDv4(), {at: DateTime64(3, 'UTC')}, {at: DateTime64(3, 'UTC')}, {agent: String},
    concat('new-', toString(number)), 'allow', 1
  FROM numbers({tools: UInt32})`;

/** Fails like a statement that exceeds its time limit. */
const TIMEOUT =
  "SELECT throwIf(1, 'Timeout exceeded', 159::Int16) SETTINGS allow_custom_error_code_in_throwif = 1";

describe('the alerts of 100 projects', function () {
  // Writes one and a half million calls, which takes long on a slow machine.
  this.timeout(240_000);
  let world: Awaited<ReturnType<typeof openWorld>>;
  before(async () => (world = await openWorld()));
  after(() => world.close());

  it('report a spike of 0.1 % of all traffic within two minutes, and of nothing else', async () => {
    const { evaluation, fill, spike, projectIds, mails, received } = world;
    const [spiked] = projectIds.slice(42);
    // Soon after, an evaluation runs that has next to nothing of it.
    const beginMs = NOW_MS + 50_000;
    await fill(START_MS, NOW_MS);
    const tookMs: number[] = [];
    let toldMs = 0;

    for (let nowMs = NOW_MS; nowMs <= NOW_MS + 5 * MINUTE_MS; nowMs += MINUTE_MS) {
      await fill(nowMs - MINUTE_MS, nowMs);
      await spike({ projectId: spiked ?? '', beginMs, fromMs: nowMs - MINUTE_MS, untilMs: nowMs });
      const startMs = performance.now();
      await evaluation.evaluate(nowMs);
      tookMs.push(performance.now() - startMs);
      if (nowMs !== NOW_MS + 2 * MINUTE_MS) continue;
      await eventually(() => received.length > 0 && mails.length > 0);
      toldMs = nowMs + performance.now() - startMs;
    }
    const lists = [];
    // One connection answers one statement after the other, and the last of a hundred must not wait too long.
    for (const projectId of projectIds) lists.push(await world.alertsOf(projectId));

    const { data } = JSON.parse(received[0]?.body ?? '{}') as AlertBody;
    expect(data).to.include({ project_id: spiked, agent_name: 'agent-7', tool_name: 'tool-17' });
    expect(toldMs - beginMs).to.be.at.most(2 * MINUTE_MS);
    expect(lists.flat().map(({ project_id }) => project_id)).to.deep.equal([spiked]);
    expect([received, mails].map(({ length }) => length)).to.deep.equal([1, 1]);
    expect(Math.max(...tookMs)).to.be.below(MINUTE_MS / 6);
  });

  it('that another service left are not sent if they are now muted, or an hour old', async () => {
    const { evaluation, alertStore, alertSettings, projectIds, mails, received } = world;
    const nowMs = NOW_MS + 20 * MINUTE_MS;
    const before = [mails.length, received.length];
    const [muted = '', late = ''] = projectIds;
    const leftIn = (projectId: string, firedMs: number) => {
      const range = { fromMs: firedMs - MINUTE_MS, toMs: firedMs, total: 9, denied: 9 };
      const about = { rule: 'denials', agent_name: 'agent-1', tool_name: '' } as const;
      const usual = { total: 900, denied: 9 };
      return alertFrom({ ...about, ...range, usual }, { projectId, isMuted: false, nowMs: firedMs });
    };
    await alertStore.add([leftIn(muted, nowMs - 3 * MINUTE_MS), leftIn(late, nowMs - HOUR_MS)]);
    await alertSettings.change(muted, '', () => ({ mutedUntilMs: nowMs + HOUR_MS }));

    await evaluation.evaluate(nowMs);
    const statesOf = () =>
      Promise.all([muted, late].map(async (id) => (await world.alertsOf(id)).map(({ state }) => state)));
    const states = await eventually(async () => {
      const found = await statesOf();
      return found.flat().includes('pending') ? undefined : found;
    });

    expect(states).to.deep.equal([['muted'], ['failed']]);
    expect([mails.length, received.length]).to.deep.equal(before);
  });

  it('are raised for a new tool while another project invents thousands of names', async () => {
    const { evaluation, call, projectIds } = world;
    // Another hour, for which the history is read again.
    const nowMs = NOW_MS + HOUR_MS / 2;
    const [crowded = '', usual = ''] = projectIds.slice(10);
    const made = async (projectId: string, tools: number) => {
      await call({ projectId, agent: 'maker', atMs: nowMs - 2 * DAY_MS, tools: 1 });
      await call({ projectId, agent: 'maker', atMs: nowMs - MINUTE_MS, tools });
    };
    await made(crowded, 7001);
    await made(usual, 2);

    await evaluation.evaluate(nowMs);
    const lists = [await world.alertsOf(crowded), await world.alertsOf(usual)];

    expect(lists.map((list) => new Set(list.map(({ rule }) => rule)))).to.deep.equal([
      new Set(['new_names']),
      new Set(['new_names']),
    ]);
    expect(lists.map(({ length }) => length)).to.deep.equal([20, 1]);
  });

  it('are raised for the names with the most calls, but for no new name or silence if there are more', async () => {
    const { evaluation, call, reads, projectIds } = world;
    const nowMs = NOW_MS + 1.5 * HOUR_MS;
    const [crowded = '', usual = ''] = projectIds.slice(20);
    const made = { projectId: crowded, agent: 'maker' };
    await call({ ...made, atMs: nowMs - 2 * DAY_MS, tools: ALERT_NAMES_MAX + 1 });
    await call({ ...made, atMs: nowMs - MINUTE_MS, tools: ALERT_NAMES_MAX + 1 });
    await call({ ...made, atMs: nowMs - MINUTE_MS, tools: 5 });
    await call({ projectId: usual, agent: 'maker', atMs: nowMs - 2 * DAY_MS, tools: 1 });
    await call({ projectId: usual, agent: 'maker', atMs: nowMs - MINUTE_MS, tools: 2 });

    await evaluation.evaluate(nowMs);
    const { signal } = new AbortController();
    const seen = await new AlertReads(reads).at({ projectIds: [crowded, usual], nowMs, signal });
    const { counts = [], history = [] } = seen.get(crowded) ?? {};

    expect(
      [await world.alertsOf(crowded), await world.alertsOf(usual)].map(({ length }) => length),
    ).to.deep.equal([0, 1]);
    expect([counts, history].map(({ length }) => length)).to.deep.equal([ALERT_NAMES_MAX, ALERT_NAMES_MAX]);
    expect(counts.filter(({ long }) => long.total === 2)).to.have.lengthOf(5);
    expect(
      [crowded, usual].map((id) => seen.get(id)?.agents.some(({ agent_name }) => agent_name === 'maker')),
    ).to.deep.equal([false, true]);
  });

  it('are read for all projects except one whose data is too much for a statement', async () => {
    const projectIds = Array.from({ length: 9 }, () => randomUUID());
    const [guilty, ...others] = projectIds;
    const { runRead, runReadBytes } = world.reads;
    let failed = 0;
    const reads = createReads({
      runRead: (text, params, signal) => {
        const isTooMuch = text === sql('alert_counts') && [params['project_ids']].flat().includes(guilty);
        if (isTooMuch) failed += 1;
        return runRead(isTooMuch ? TIMEOUT : text, params, signal);
      },
      runReadBytes,
      writers: 'sole',
      now: Date.now,
    });
    const alertReads = new AlertReads(reads);
    const { signal } = new AbortController();
    const readAt = async (nowMs: number) => {
      failed = 0;
      const seen = await alertReads.at({ projectIds, nowMs, signal });
      return { read: [...seen.keys()].sort(), failed };
    };

    const first = await readAt(NOW_MS);
    const next = await readAt(NOW_MS + MINUTE_MS);

    // The statements of 9, 5, 3, 2 projects and 1; then only the last.
    expect(first).to.deep.equal({ read: others.sort(), failed: 5 });
    expect(next).to.deep.equal({ read: others.sort(), failed: 1 });
  });

  it('are read for more projects than one statement has room for', async () => {
    const projectIds = Array.from({ length: 7000 }, () => randomUUID());
    const { signal } = new AbortController();

    const seen = await new AlertReads(world.reads).at({ projectIds, nowMs: NOW_MS, signal });

    expect(seen.size).to.equal(7000);
    expect(await world.alertStore.known(projectIds, [], NOW_MS)).to.deep.equal([]);
  });

  it('report a silence with its very last call for as long as it lasts, even if its record was late', async () => {
    const hourMs = Math.floor(NOW_MS / HOUR_MS) * HOUR_MS;
    const reads = new AlertReads(world.reads);
    const [projectId, agent] = [randomUUID(), 'late'];
    const lastMs = async (nowMs: number) => {
      const { signal } = new AbortController();
      const seen = await reads.at({ projectIds: [projectId], nowMs, signal });
      return seen.get(projectId)?.agents.map((one) => one.lastMs);
    };
    await world.call({ projectId, agent, atMs: hourMs - 10 * MINUTE_MS, tools: 1 });
    const before = await lastMs(hourMs + MINUTE_MS);
    await world.call({ projectId, agent, atMs: hourMs - 2 * MINUTE_MS, tools: 1 });

    const later = [await lastMs(hourMs + 28 * MINUTE_MS), await lastMs(hourMs + 59 * MINUTE_MS)];

    expect(before).to.deep.equal([hourMs - 10 * MINUTE_MS]);
    expect(later).to.deep.equal([[hourMs - 2 * MINUTE_MS], [hourMs - 2 * MINUTE_MS]]);
  });
});

/** 100 projects of one owner with all rules on, on a separate store, and the alerts of the evaluation. */
async function openWorld() {
  const [smtp, receiver] = [await startMailServer(), await startReceiver()];
  const env = { GATE_DATA_DIR: await storeDirectory(), ...providerEnv(smtp.url), GATE_WEBHOOK_PRIVATE: '1' };
  const config = readConfig(env);
  const logger = createLogger('silent');
  const store = createStore(config, logger);
  const metrics = createMetrics({ isStoreUp: store.isUp });
  const mailer = createMailer(config, { logger, counter: metrics.mail });
  const background = createBoundedStore(store.background, store.ready);
  const [mutex, now] = [new KeyedMutex(background), Date.now];
  const accounts = {
    projects: new Projects({ store: background, mutex, now }),
    members: new Members({ store: background, mutex, now }),
  };
  const reads = createReads({
    runRead: (text, params, signal) => store.reads.query(text, params, signal),
    runReadBytes: (text, params, signal) => store.reads.queryBytes(text, params, signal),
    writers: 'sole',
    now,
  });
  await store.ready();
  const alerts = createAlerts({
    store: background,
    background,
    reads,
    mailer,
    accounts,
    config,
    metrics,
    logger,
    now,
  });
  const people = new AccountStore({ store: background, mutex, now });
  const owner = await people.register('owner@example.com', () => Promise.resolve(''));
  if (owner === undefined) throw new Error('The address is taken');
  await people.setVerified(owner);
  const projectIds: string[] = [];
  const webhook = { url: receiver.url, secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
  const rules = { denials: true, new_names: true, silence: true };
  for (let index = 0; index < PROJECTS; index += 1) {
    const { id } = await accounts.projects.create(`Project ${index}`, owner.id);
    await alerts.alertSettings.change(id, owner.id, () => ({ rules, webhook }));
    projectIds.push(id);
  }
  return {
    ...alerts,
    reads,
    projectIds,
    alertsOf: (projectId: string) =>
      alerts.alertStore.page({
        projectId,
        before: { at: '2200-01-01T00:00:00.000Z', id: '' },
        limit: 50,
      }),
    mails: smtp.mails,
    received: receiver.received,
    /** The fleet's calls in a period. */
    fill: (fromMs: number, untilMs: number) => {
      const callsUntil = (ms: number) => Math.floor(((ms - START_MS) / MINUTE_MS) * CALLS_A_MINUTE);
      const [from_call, start] = [callsUntil(fromMs), clickhouseTime(START_MS)];
      const params = { project_ids: projectIds, from_call, calls: callsUntil(untilMs) - from_call, start };
      return store.background.command(TRAFFIC, params);
    },
    spike: ({
      projectId,
      ...range
    }: Record<'beginMs' | 'fromMs' | 'untilMs', number> & { projectId: string }) => {
      const begin = clickhouseTime(range.beginMs);
      const [from, until] = [clickhouseTime(range.fromMs), clickhouseTime(range.untilMs)];
      return store.background.command(SPIKE, { project_id: projectId, begin, from, until });
    },
    call: ({
      projectId,
      agent,
      atMs,
      tools,
    }: {
      projectId: string;
      agent: string;
      atMs: number;
      tools: number;
    }) => store.background.command(CALLS, { project_id: projectId, agent, at: clickhouseTime(atMs), tools }),
    close: async () => {
      await alerts.evaluation.close();
      await mailer.close();
      await store.close();
      receiver.close();
      await smtp.close();
    },
  };
}
