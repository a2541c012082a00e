import { expect } from 'chai';
import { accepted, outcomeOf, readAllDecisions, sendDecision, tally } from '../support/audit.ts';
import { writeMany } from '../support/clickhouse-server/probes.ts';
import { onServer, startPair } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { readMetrics } from '../support/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';

const EACH = 40;
const rejected = { status: 422, code: 'row_rejected' };

describe('inserts of several services that the server merges', () => {
  let server: ClickHouseServer;
  let services: TestService[];
  before(async () => {
    server = await startClickHouse();
    const env = { GATE_ASYNC_INSERT_MS: '150' };
    services = await startPair(server, env);
    const [{ dataDir }] = services as [TestService];
    services.push(await startTestService({ dataDir, env: onServer(server, env) }));
    await server.query("ALTER TABLE decisions ADD CONSTRAINT no_poison CHECK tool_name != 'poison'");
  });
  after(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await server.kill();
  });

  const eventsOf = (agent_name: string) =>
    services.map(() => Array.from({ length: EACH }, () => decisionEvent({ agent_name })));
  const sendAll = (events: Record<string, unknown>[][]) =>
    Promise.all(
      events.map((some, i) =>
        Promise.all(
          some.map(async (event) => outcomeOf(await sendDecision(services[i] as TestService, event))),
        ),
      ),
    );
  const idsOf = async (agent: string) =>
    (await readAllDecisions(services[0] as TestService, agent)).map(({ event_id }) => event_id);
  /** Each insert into the table takes the next block number of its partition. */
  const inserts = async () => {
    const [row] = await server.query<{ n: string }>(
      "SELECT sum(n) AS n FROM (SELECT max(max_block_number) AS n FROM system.parts WHERE table = 'decisions' GROUP BY partition)",
    );
    return Number(row?.n);
  };
  const flushes = async () => {
    const all = await Promise.all(services.map(readMetrics));
    return all.reduce((sum, one) => sum + one.value('gate_ingest_flush_seconds_count'), 0);
  };

  it('are fewer parts than inserts, and each 202 is a record', async () => {
    await sendAll(eventsOf('first'));
    const before = [await inserts(), await flushes()] as const;
    const events = eventsOf('merged');

    const outcomes = await sendAll(events);

    const parts = (await inserts()) - before[0];
    const sent = (await flushes()) - before[1];
    expect(tally(outcomes.flat())).to.deep.equal({ '202': 3 * EACH });
    expect(sent).to.be.at.least(services.length);
    expect(parts).to.be.within(1, sent - 1);
    expect(await idsOf('merged')).to.have.members(events.flat().map((event) => event['event_id']));
  });

  it('fail together for a row that the store rejects, and then only its caller gets 422', async () => {
    const events = eventsOf('poisoned');
    const poison = { ...events[0]?.[17], tool_name: 'poison' };
    events[0]?.splice(17, 1, poison);

    const outcomes = await sendAll(events);

    expect(outcomes[0]?.[17]).to.deep.equal(rejected);
    expect(tally(outcomes.flat())).to.deep.equal({ '202': 3 * EACH - 1, '422 row_rejected': 1 });
    const good = events.flat().filter((event) => event['tool_name'] !== 'poison');
    expect(await idsOf('poisoned')).to.have.members(good.map((event) => event['event_id']));
  });

  it('reject no good row next to bad ones that are sent repeatedly', async () => {
    const [service, other] = services as [TestService, TestService];
    let isOver = false;
    const bad = (async () => {
      while (!isOver) {
        const outcome = await outcomeOf(await sendDecision(other, decisionEvent({ tool_name: 'poison' })));
        expect(outcome).to.deep.equal(rejected);
      }
    })();
    for (let i = 0; i < 5; i += 1)
      expect(await outcomeOf(await sendDecision(service, decisionEvent()))).to.deep.equal(accepted);
    isOver = true;
    await bad;
  });

  for (const when of ['before', 'after'] as const) {
    it(`whose connection breaks ${when} the rows were written are retried: one record each`, async () => {
      const agent = `hang-up ${when}`;
      await server.fail({ on: 'insert', table: 'decisions', does: 'hang up', when, times: 2 });

      const writes = await Promise.all(services.map((service) => writeMany(service, agent, EACH)));
      await server.fail();

      expect(writes.flat().map(({ status }) => status)).to.deep.equal(writes.flat().map(() => 202));
      expect(await idsOf(agent)).to.have.members(writes.flat().map(({ event }) => event['event_id']));
    });
  }
});
