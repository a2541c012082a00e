import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  outcomeOf,
  readAllDecisions,
  readSummary,
  sendDecision,
  sendLlm,
  tally,
  timeFromNow,
} from '../support/audit.ts';
import { startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { expectWholeLog, readWholeLog } from '../support/whole-log.ts';
import type { TestService } from '../support/service.ts';
import { DAY_MS } from '../../server/durations.ts';

type Event = Record<string, unknown>;
type Row = { event_id: string; received_at: string; version: string; agent_name: string };

const EVENTS = 200;
/** 5 s are promised. A machine at half the speed of our reference machines may take twice that. */
const SETTLED_MS_MAX = 10_000;

/** For each identity, the row that was received first. */
function firstsOf(rows: Row[]): Row[] {
  const firsts = new Map<string, Row>();
  for (const row of rows) {
    const first = firsts.get(row.event_id);
    if (first === undefined || BigInt(row.version) > BigInt(first.version)) firsts.set(row.event_id, row);
  }
  return [...firsts.values()];
}

describe('two services on one store', () => {
  let server: ClickHouseServer;
  let one: TestService;
  let two: TestService;
  before(async () => {
    server = await startClickHouse();
    [one, two] = await startPair(server, {});
  });
  after(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await server.kill();
  });

  /** Sends each pair of events to the two services at the same moment. */
  async function sendAtOnce(pairs: [Event, Event][], send = sendDecision): Promise<Record<string, number>> {
    const answers = pairs.map(async ([a, b]) =>
      Promise.all([outcomeOf(await send(one, a)), send(two, b, { key: one.key }).then(outcomeOf)]),
    );
    return tally((await Promise.all(answers)).flat());
  }

  const idsOf = (events: Event[]) => events.map((event) => String(event['event_id'])).sort();

  it(`the same ${EVENTS} events posted to both become one record each by the next read`, async () => {
    const agent_name = randomUUID();
    const events = Array.from({ length: EVENTS }, () => decisionEvent({ agent_name }));

    const answers = await Promise.all([
      ...events.map(async (event) => outcomeOf(await sendDecision(one, event))),
      ...events.map(async (event) => outcomeOf(await sendDecision(two, event, { key: one.key }))),
    ]);
    const read = [await readAllDecisions(one, agent_name), await readAllDecisions(two, agent_name)];
    const { by_agent } = await readSummary(two, {}, one.project_id);

    expect(tally(answers)).to.deep.equal({ '202': 2 * EVENTS });
    for (const records of read)
      expect(records.map(({ event_id }) => event_id).sort()).to.deep.equal(idsOf(events));
    expect(by_agent.find((group) => group.agent_name === agent_name)?.total).to.equal(EVENTS);
  });

  /** Pairs of decisions with one identity and different bodies, on this many days; the first of each pair is of agents[0]. */
  function conflictsOf(agents: readonly [string, string], count: number, days = 1): [Event, Event][] {
    return Array.from({ length: count }, (_, i) => {
      const event_id = randomUUID();
      const other = {
        outcome: 'deny',
        error_type: 'policy_denied',
        occurred_at: timeFromNow(-(i % days) * DAY_MS),
      };
      return [
        decisionEvent({ event_id, agent_name: agents[0] }),
        decisionEvent({ event_id, agent_name: agents[1], ...other }),
      ];
    });
  }

  const rowsOf = (agents: readonly string[]) =>
    server.query<Row>(
      `SELECT toString(event_id) AS event_id, toString(received_at) AS received_at, toString(version) AS version, agent_name
       FROM decisions WHERE agent_name IN (${agents.map((name) => `'${name}'`).join()}) ORDER BY event_id`,
    );

  /** Resolves with the rows once there is one for each identity, and with how long that took. */
  async function settled(agents: readonly string[], count: number): Promise<{ rows: Row[]; tookMs: number }> {
    const startMs = performance.now();
    const rows = await eventually(async () => {
      const now = await rowsOf(agents);
      return now.length === count ? now : undefined;
    });
    return { rows, tookMs: performance.now() - startMs };
  }

  // While marks cannot be written, neither service knows what the other has written.
  const noMarks = { on: 'insert', table: 'event_identities', does: 'fail', with: 'TOO_MANY_PARTS' } as const;

  it(`${EVENTS} identities with conflicting bodies soon become one record each: the first received`, async () => {
    const agents = [randomUUID(), randomUUID()] as const;
    await server.fail(noMarks);
    const answers = await sendAtOnce(conflictsOf(agents, EVENTS, 3));
    const written = await rowsOf(agents);
    await server.fail();

    const { rows, tookMs } = await settled(agents, EVENTS);

    expect(answers).to.deep.equal({ '202': 2 * EVENTS });
    expect(written.length).to.equal(2 * EVENTS);
    expect(tookMs).to.be.below(SETTLED_MS_MAX);
    expect(rows).to.deep.equal(firstsOf(written));
    const receivedAt = new Map(rows.map((row) => [row.event_id, row.received_at]));
    for (const row of written) {
      expect(row.received_at >= (receivedAt.get(row.event_id) ?? '')).to.equal(true);
    }
    for (const service of [one, two]) {
      const { by_agent } = await readSummary(service, { window: '90d' }, one.project_id);
      const totals = agents.map((name) => by_agent.find((group) => group.agent_name === name)?.total ?? 0);
      expect(totals).to.deep.equal(
        agents.map((name) => rows.filter((row) => row.agent_name === name).length),
      );
      for (const agent of agents) {
        const ids = (await readAllDecisions(service, agent, one.project_id)).map(({ event_id }) => event_id);
        expect(ids.sort()).to.deep.equal(idsOf(rows.filter((row) => row.agent_name === agent)));
      }
    }
  });

  it('conflicts that arrive while earlier ones are resolved become one record each', async () => {
    const agents = [randomUUID(), randomUUID()] as const;
    let seen = 0;
    // So that both look before the other's marks are there.
    await server.fail({ on: 'insert', table: 'event_identities', does: 'wait', ms: 300 });
    for (let burst = 0; burst < 10; burst += 1) {
      expect(await sendAtOnce(conflictsOf(agents, 10))).to.deep.equal({ '202': 20 });
      seen = Math.max(seen, (await rowsOf(agents)).length - 10 * (burst + 1));
      await sleep(100);
    }
    await server.fail();

    const { rows, tookMs } = await settled(agents, 100);

    expect(new Set(idsOf(rows)).size).to.equal(100);
    expect(seen).to.be.above(0);
    expect(tookMs).to.be.below(SETTLED_MS_MAX);
  });

  it('a DELETE that the store confirmed but lost is repeated', async () => {
    const agents = [randomUUID(), randomUUID()] as const;
    await server.fail(noMarks);
    await sendAtOnce(conflictsOf(agents, 60, 3));
    const written = await rowsOf(agents);
    await server.fail({ on: 'other', table: 'DELETE IN PARTITION', does: 'nothing', times: 6 });

    const { rows, tookMs } = await settled(agents, 60);
    await server.fail();

    expect(written.length).to.equal(120);
    expect(rows).to.deep.equal(firstsOf(written));
    expect(tookMs).to.be.below(SETTLED_MS_MAX);
  });

  it('conflicting usage reports soon become one record each', async () => {
    const model = randomUUID();
    const pairs = Array.from({ length: 50 }, (): [Event, Event] => {
      const event_id = randomUUID();
      return [
        llmInvocation({ event_id, model }),
        llmInvocation({ event_id, model: `${model}-2`, input_tokens: 7 }),
      ];
    });

    expect(await sendAtOnce(pairs, sendLlm)).to.deep.equal({ '202': 100 });
    const answeredMs = performance.now();

    await eventually(async () => {
      const rows = await server.query<{ n: string; ids: string }>(
        `SELECT count() AS n, uniqExact(event_id) AS ids FROM llm_invocations WHERE model LIKE '${model}%'`,
      );
      return Number(rows[0]?.n) === 50 && Number(rows[0]?.ids) === 50;
    });
    expect(performance.now() - answeredMs).to.be.below(SETTLED_MS_MAX);
  });

  it('the conflicts leave one log, with every record once, and no fork', async () => {
    const log = await eventually(async () => {
      const now = await readWholeLog((sql) => server.query(sql));
      return now.waiting === 0 ? now : undefined;
    });

    expectWholeLog(log);
  });

  it('a re-post to the other service changes nothing', async () => {
    const agent_name = randomUUID();
    const events = Array.from({ length: 40 }, () => decisionEvent({ agent_name }));
    await Promise.all(events.map((event) => sendDecision(one, event)));
    const [before] = await Promise.all([
      readAllDecisions(one, agent_name),
      new Promise((r) => setTimeout(r, 1000)),
    ]);

    const again = events.map(async (event) =>
      outcomeOf(await sendDecision(two, { ...event, outcome: 'deny', reason: 'again' }, { key: one.key })),
    );

    expect(tally(await Promise.all(again))).to.deep.equal({ '202': 40 });
    expect(await readAllDecisions(two, agent_name, one.project_id)).to.deep.equal(before);
  });
});
