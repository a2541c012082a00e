import fc from 'fast-check';
import { expect } from 'chai';
import { DECISION_BATCH, DECISIONS, decision, openGate } from '../../support/emission.ts';
import { startMockServer, type Reply, type SeenRequest } from '../../support/mock-server.ts';

const RUNS = 60;

const ANSWERS = ['202', '202', '202', '207', '413', '503', '500', '404', 'reset'] as const;
type Answer = (typeof ANSWERS)[number];

type World = { answers: Answer[]; bursts: number[]; maxEvents: number; maxPending: number };

const worlds: fc.Arbitrary<World> = fc.record({
  answers: fc.array(fc.constantFrom(...ANSWERS), { maxLength: 30 }),
  bursts: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
  maxEvents: fc.integer({ min: 1, max: 12 }),
  maxPending: fc.integer({ min: 1, max: 40 }),
});

describe('client batches against a service that answers anything', () => {
  it(`${RUNS} random histories: each event is counted once, and those that were stored as sent`, async () => {
    await fc.assert(fc.asyncProperty(worlds, holds), { numRuns: RUNS });
  });
});

async function holds({ answers, bursts, maxEvents, maxPending }: World): Promise<void> {
  const mock = await startMockServer();
  const stored: number[][] = [];
  const left = [...answers];
  /** Stores what its answer says. The first event of a 207 is rejected. */
  const answer = (request: SeenRequest): Reply => {
    const events = request.text
      .split('\n')
      .map((line) => Number((JSON.parse(line) as { reason: string }).reason));
    const next = left.shift() ?? '202';
    if (next === 'reset') return { fault: 'reset' };
    if (next === '202') stored.push(events);
    if (next === '207') stored.push(events.slice(1));
    return {
      status: Number(next),
      json: { rejected: next === '207' ? [{ index: 0, code: 'body_invalid' }] : [] },
    };
  };
  mock.on(DECISION_BATCH, answer);
  mock.on(DECISIONS, (request) => {
    stored.push([Number((JSON.parse(request.text) as { reason: string }).reason)]);
    return { status: 202 };
  });
  const batch = { maxEvents, maxPending, maxWaitMs: 1 };
  const { gates, gate } = openGate(mock, { batch }, { sleep: () => Promise.resolve() });
  let emitted = 0;
  for (const burst of bursts) {
    for (let i = 0; i < burst; i += 1) gate.emit(decision({ reason: String((emitted += 1)) }));
    await new Promise(setImmediate);
  }
  await gates.flush();
  const { sent, failed, dropped, in_flight } = gate.stats();
  await gates.shutdown();
  await mock.close();

  expect(in_flight).to.equal(0);
  expect(sent + failed + dropped).to.equal(emitted);
  expect(stored.flat()).to.have.length(sent);
  expect(new Set(stored.flat()).size).to.equal(sent);
  for (const events of stored) expect(events).to.deep.equal(events.toSorted((a, b) => a - b));
}
