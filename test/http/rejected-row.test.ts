import { expect } from 'chai';
import { accepted, outcomeOf, readAllDecisions, readSummary, sendDecision, tally } from '../support/audit.ts';
import { batchOutcome, sendBatch, withoutDetail } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { runOnStore } from '../support/engine.ts';
import { ingestResult, readMetrics, type Samples } from '../support/metrics.ts';
import { startTestService, storeDirectory, type TestService, useTestService } from '../support/service.ts';

const eventsOf = (count: number, agent_name: string) =>
  Array.from({ length: count }, () => decisionEvent({ agent_name }));
const rejected = { status: 422, code: 'row_rejected' };

describe('a row that the storage layer rejects', () => {
  let service: TestService;
  before(async () => {
    const dataDir = await storeDirectory();
    await runOnStore(dataDir, "ALTER TABLE decisions ADD CONSTRAINT no_poison CHECK tool_name != 'poison'");
    service = await startTestService({ dataDir });
  });
  after(() => service.stop());

  const send = async (event: Record<string, unknown>) => outcomeOf(await sendDecision(service, event));
  const idsOf = async (agent: string) =>
    (await readAllDecisions(service, agent)).map(({ event_id }) => event_id);

  it('answers 422 row_rejected, every time, and is not stored', async () => {
    const event = decisionEvent({ agent_name: 'alone', tool_name: 'poison' });

    expect([await send(event), await send(event)]).to.deep.equal([rejected, rejected]);
    expect(await idsOf('alone')).to.deep.equal([]);
  });

  it('keeps its event_id free', async () => {
    const event = decisionEvent({ agent_name: 'free', tool_name: 'poison' });

    expect([await send(event), await send({ ...event, tool_name: 'fine' })]).to.deep.equal([
      rejected,
      accepted,
    ]);
    expect(await idsOf('free')).to.deep.equal([event['event_id']]);
  });

  it('fails alone: among a hundred at once its caller gets 422, and the other 99 get 202', async () => {
    const before = await readMetrics(service);
    const events = Array.from({ length: 100 }, (_, i) =>
      decisionEvent({ agent_name: 'hundred', tool_name: i === 37 ? 'poison' : 'fine' }),
    );

    const outcomes = await Promise.all(events.map(send));

    expect(outcomes[37]).to.deep.equal(rejected);
    expect(tally(outcomes)).to.deep.equal({ '202': 99, '422 row_rejected': 1 });
    const stored = events.filter((event) => event['tool_name'] === 'fine').map((event) => event['event_id']);
    expect(await idsOf('hundred')).to.have.members(stored);
    const after = await readMetrics(service);
    const grown = ['row_rejected', 'accepted', 'duplicate'].map(
      (result) => after.value(ingestResult(result)) - before.value(ingestResult(result)),
    );
    expect(grown).to.deep.equal([1, 99, 0]);
    const { by_tool } = await readSummary(service);
    expect(by_tool.map(({ tool_name }) => tool_name)).to.deep.equal(['fine']);
  });

  it('ten among a hundred at once fail each alone', async () => {
    const events = Array.from({ length: 100 }, (_, i) =>
      decisionEvent({ agent_name: 'ten', tool_name: i % 10 === 9 ? 'poison' : 'fine' }),
    );

    const outcomes = await Promise.all(events.map(send));

    expect(tally(outcomes)).to.deep.equal({ '202': 90, '422 row_rejected': 10 });
    expect(tally(outcomes.filter((_, i) => i % 10 === 9))).to.deep.equal({ '422 row_rejected': 10 });
    expect((await idsOf('ten')).length).to.equal(90);
  });

  it('fails alone in a batch of a thousand, with single events at the same time', async () => {
    const before = await readMetrics(service);
    const events = eventsOf(1000, 'thousand');
    const poison: Record<string, unknown> = { ...events[617], tool_name: 'poison' };
    const batch = events.with(617, poison);

    const [{ rejected: refused, ...counts }, single] = await Promise.all([
      batchOutcome(sendBatch(service, batch)),
      send(decisionEvent({ agent_name: 'beside' })),
    ]);
    const again = await batchOutcome(sendBatch(service, batch));

    expect(counts).to.deep.equal({ status: 207, accepted: 999, duplicates: 0 });
    expect(refused.map(withoutDetail)).to.deep.equal([
      { index: 617, event_id: poison['event_id'], ...rejected },
    ]);
    expect(single).to.deep.equal(accepted);
    expect([again.status, again.duplicates, again.rejected.length]).to.deep.equal([207, 999, 1]);
    const ids = events.map(({ event_id }) => event_id).toSpliced(617, 1);
    expect(await idsOf('thousand')).to.have.members(ids);
    const after = await readMetrics(service);
    const grown = ['row_rejected', 'accepted', 'duplicate'].map(
      (result) => after.value(ingestResult(result)) - before.value(ingestResult(result)),
    );
    expect(grown).to.deep.equal([2, 1000, 999]);
  });
});

describe('a full queue', () => {
  const service = useTestService({ env: { GATE_QUEUE_ROWS_MAX: '5' } });
  let before: Samples;
  beforeEach(async () => (before = await readMetrics(service)));
  const grown = async (result: string) =>
    (await readMetrics(service)).value(ingestResult(result)) - before.value(ingestResult(result));

  it('refuses a whole batch that would overflow it, counts each of its events, and takes any into an empty one', async () => {
    const batches = Array.from({ length: 40 }, (_, i) => eventsOf(20, `crowd-${i}`));

    const responses = await Promise.all(batches.map((batch) => sendBatch(service, batch)));
    const outcomes = await Promise.all(responses.map(batchOutcome));
    const { by_agent } = await readSummary(service);

    const refused = outcomes.filter(({ code }) => code === 'overloaded').length;
    expect(refused).to.be.within(1, 39);
    expect(tally(outcomes)).to.deep.equal({ '202': 40 - refused, '503 overloaded': refused });
    expect(responses.filter((response) => response.headers.get('Retry-After') === '5').length).to.equal(
      refused,
    );
    const written = batches.flatMap((_, i) => (outcomes[i]?.status === 202 ? [`crowd-${i}`] : []));
    expect(by_agent.map(({ agent_name }) => agent_name)).to.have.members(written);
    expect(by_agent.filter(({ total }) => total !== 20)).to.deep.equal([]);
    expect(await grown('overloaded')).to.equal(refused * 20);
    expect(await grown('accepted')).to.equal((40 - refused) * 20);
  });

  it('answers 503 overloaded with Retry-After: 5 at once, and stores exactly what got 202', async () => {
    const events = Array.from({ length: 100 }, () => decisionEvent({ agent_name: 'crowd' }));

    const responses = await Promise.all(events.map((event) => sendDecision(service, event)));
    const outcomes = await Promise.all(responses.map(outcomeOf));
    const stored = await readAllDecisions(service, 'crowd');

    const kept = events.filter((_, i) => outcomes[i]?.status === 202).map((event) => event['event_id']);
    const refused = events.length - kept.length;
    expect(refused).to.be.within(1, 99);
    expect(tally(outcomes)).to.deep.equal({ '202': kept.length, '503 overloaded': refused });
    expect(responses.filter((response) => response.headers.get('Retry-After') === '5').length).to.equal(
      refused,
    );
    expect(stored.map(({ event_id }) => event_id)).to.have.members(kept);
    expect(await grown('overloaded')).to.equal(refused);
  });
});
