import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../../server/durations.ts';
import { outcomeOf, readAllDecisions, readSummary, sendDecision, tally } from '../support/audit.ts';
import { createServiceClock } from '../support/clock.ts';
import { eventually } from '../support/eventually.ts';
import { runOnStore } from '../support/engine.ts';
import { decisionEvent } from '../support/events.ts';
import { acknowledged, contentOf, cutOff, type Sent, startLoad } from '../support/load.ts';
import { checkpointFrom, proofOf } from '../support/log.ts';
import { expectWholeLog, readIndexes, readWholeLog } from '../support/whole-log.ts';
import { startTestService, storeDirectory, type TestService } from '../support/service.ts';

const KILLS = 20;
/** At later kills, more work is in progress. */
const ACKNOWLEDGED_STEP = 10;
const JITTER_MS_MAX = 60;
const LOGGED_MS_MAX = 10_000;
const CONNECTIONS = 24;
/** One connection in twelve sends batches among the single events of the others. */
const BATCHES = { every: 12, events: 20 };

describe('kill -9 under load', () => {
  it(`${KILLS} times: every id that got 202 is there, and in the log, exactly once after the restart`, async function () {
    // The service starts 21 times.
    this.timeout(300_000);
    const dataDir = await storeDirectory();
    const rounds: { agent: string; sent: Sent[] }[] = [];

    for (let kill = 0; kill < KILLS; kill += 1) {
      const service = await startTestService({ dataDir });
      const previous = rounds.at(-1);
      if (previous !== undefined) {
        await logsWhatWasAcknowledged(service, previous);
        await holdsWhatWasAcknowledged(service, previous);
      }
      const agent = `round-${kill}`;
      const load = startLoad(service, { connections: CONNECTIONS, agent, batches: BATCHES });
      await eventually(() => acknowledged(load.sent).length > kill * ACKNOWLEDGED_STEP);
      // At a different point of the flush cycle, of the copying of identities and of the merges each time.
      await sleep((kill * 23) % JITTER_MS_MAX);
      await service.kill();
      await load.ended;
      rounds.push({ agent, sent: load.sent });
    }

    const service = await startTestService({ dataDir });
    for (const round of rounds.slice(-1)) await logsWhatWasAcknowledged(service, round);
    for (const round of rounds) await holdsWhatWasAcknowledged(service, round);
    await knowsItsIdentities(service, rounds);
    const { totals, by_agent } = await readSummary(service, { window: '90d' });
    expect(await service.stop()).to.equal(0);
    expectWholeLog(await readWholeLog((sql) => runOnStore(dataDir, sql)));
    expect(rounds.every(({ sent }) => acknowledged(sent).length > 0)).to.equal(true);
    const batched = rounds.flatMap(({ sent }) => sent.filter(({ isBatched }) => isBatched));
    expect(acknowledged(batched).length).to.be.above(0);
    expect(cutOff(batched).length).to.be.above(0);
    expect(rounds.every(({ sent }) => sent.some(({ error }) => error !== undefined))).to.equal(true);
    expect(by_agent.reduce((sum, { total }) => sum + total, 0)).to.equal(totals.total);
    expect(totals.total).to.be.at.least(rounds.flatMap(({ sent }) => acknowledged(sent)).length);
  });
});

describe('kill -9 after the clock ran ahead', () => {
  it('leaves no acknowledged record out of the log, although the clock has nearly caught up by the next start', async () => {
    const clock = createServiceClock();
    const dataDir = await storeDirectory();
    const send = async (service: TestService, count: number): Promise<string[]> => {
      const events = Array.from({ length: count }, () => decisionEvent());
      const answers = await Promise.all(events.map((event) => sendDecision(service, event)));
      expect(tally(answers)).to.deep.equal({ '202': count });
      return events.map((event) => String(event['event_id']));
    };
    clock.passMs(3 * HOUR_MS);
    const ahead = await startTestService({ dataDir, env: clock.env });
    const ids = await send(ahead, 5);
    await checkpointFrom(ahead, ids.length);
    await ahead.stop();
    clock.passMs(-3 * HOUR_MS);
    const killed = await startTestService({ dataDir, env: clock.env });
    ids.push(...(await send(killed, 10)));
    await killed.kill();
    clock.passMs(2.5 * HOUR_MS);

    const service = await startTestService({ dataDir, env: clock.env });
    const proofs = await Promise.all(ids.map((id) => proofOf(service, id)));
    await service.stop();

    expect(new Set(proofs.map(({ index }) => index)).size).to.equal(ids.length);
  });
});

/** Everything acknowledged is in the log within 10 s of the start. */
async function logsWhatWasAcknowledged(
  service: TestService,
  { agent, sent }: { agent: string; sent: Sent[] },
): Promise<void> {
  const startMs = performance.now();
  const { totals } = await readSummary(service, { window: '90d' });
  await checkpointFrom(service, totals.total);
  expect(performance.now() - startMs).to.be.below(LOGGED_MS_MAX);
  const indexes = await readIndexes(service, agent);
  expect([...indexes.values()]).not.to.include(null);
  expect(acknowledged(sent).filter((id) => !indexes.has(id))).to.deep.equal([]);
  expect(new Set(indexes.values()).size).to.equal(indexes.size);
}

/** Everything acknowledged is there, once. Anything else there was sent, but its answer was lost with the process. */
async function holdsWhatWasAcknowledged(
  service: TestService,
  { agent, sent }: { agent: string; sent: Sent[] },
): Promise<void> {
  const records = await readAllDecisions(service, agent);
  const stored = records.map(({ event_id }) => event_id);
  const once = new Set(stored);
  const tried = new Map(sent.map(({ event }) => [event['event_id'], event]));

  expect(stored.length).to.equal(once.size);
  expect(acknowledged(sent).filter((id) => !once.has(id))).to.deep.equal([]);
  // Exactly as they were sent.
  expect(records.map(contentOf)).to.deep.equal(stored.map((id) => tried.get(id)));
}

/** Re-posts from every round, some hardly written when the process died, change nothing. */
async function knowsItsIdentities(
  service: TestService,
  rounds: { agent: string; sent: Sent[] }[],
): Promise<void> {
  const before = await readSummary(service, { window: '90d' });
  const events = rounds.flatMap(({ sent }) => sent.filter(({ status }) => status === 202).slice(-20));

  const outcomes = await Promise.all(
    events.map(async ({ event }) =>
      outcomeOf(await sendDecision(service, { ...event, outcome: 'deny', agent_name: 'late' })),
    ),
  );

  expect(outcomes.every(({ status }) => status === 202)).to.equal(true);
  const after = await readSummary(service, { window: '90d' });
  expect([after.totals, after.by_agent]).to.deep.equal([before.totals, before.by_agent]);
}
