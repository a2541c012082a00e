import { syncBuiltinESMExports } from 'node:module';
import { mock as nodeMock } from 'node:test';
import nodeTimers from 'node:timers';
import { expect } from 'chai';
import type { GatesDeps } from '../../../client/audit/gates.ts';
import { ValueError, type BatchOptions } from '../../../client/index.ts';
import {
  batchesOf,
  batchSizes,
  DECISION_BATCH,
  DECISIONS,
  decision,
  gatesWith,
  openGate,
  startAuditServer,
  usage,
  USAGE_BATCH,
} from '../../support/emission.ts';
import { fakeTimeouts } from '../../support/fake-timeouts.ts';
import { forEachTest } from '../../support/for-each-test.ts';

/** Longer than a batch takes to arrive. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

const MIB = 1024 * 1024;

describe('client batches', () => {
  const mock = forEachTest(startAuditServer);

  afterEach(() => fakeTimeouts.reset());

  function open(batch: boolean | BatchOptions = true, deps: Partial<GatesDeps> = {}) {
    const opened = openGate(mock, { batch }, deps);
    const emit = (count: number, more = {}): void => {
      for (let i = 0; i < count; i += 1) opened.gate.emit(decision({ reason: String(i), ...more }));
    };
    return { ...opened, emit };
  }

  const reasons = (): unknown[] =>
    batchesOf(mock, DECISION_BATCH).map((events) => events.map((e) => e.reason));

  describe('an event waits for its batch', () => {
    it('a full batch is sent immediately, in order, as one line of JSON for each event', async () => {
      const { gates, gate, emit } = open({ maxEvents: 3, maxWaitMs: 60_000 });
      emit(7);
      expect(mock.connections()).to.equal(0);
      await mock.arrived(DECISION_BATCH, 2);
      const [request] = mock.seen(DECISION_BATCH);

      expect(reasons()).to.have.deep.members([
        ['0', '1', '2'],
        ['3', '4', '5'],
      ]);
      expect(request?.headers).to.include({
        authorization: 'Bearer k',
        'content-type': 'application/x-ndjson',
      });
      await gates.shutdown();
      expect(reasons().at(-1)).to.deep.equal(['6']);
      expect(gate.stats()).to.deep.equal({ sent: 7, failed: 0, dropped: 0, in_flight: 0 });
    });

    it('no longer than maxWaitMs, counted from its first event', async () => {
      fakeTimeouts.enable();
      const { gates, gate, emit } = open();
      emit(1);
      fakeTimeouts.tick(49);
      emit(1);
      await someTurns();
      expect(mock.connections()).to.equal(0);
      expect(gate.stats().in_flight).to.equal(2);
      fakeTimeouts.tick(1);
      await mock.arrived(DECISION_BATCH, 1);
      fakeTimeouts.reset();
      await gates.shutdown();

      expect(batchSizes(mock, DECISION_BATCH)).to.deep.equal([2]);
    });

    it('maxWaitMs is counted again after a batch that was full', async () => {
      fakeTimeouts.enable();
      const { gates, emit } = open({ maxEvents: 2 });
      emit(2);
      await mock.arrived(DECISION_BATCH, 1);
      fakeTimeouts.tick(30);
      emit(1);
      fakeTimeouts.tick(49);
      await someTurns();
      expect(mock.seen(DECISION_BATCH)).to.have.length(1);
      fakeTimeouts.tick(1);
      await mock.arrived(DECISION_BATCH, 2);
      fakeTimeouts.reset();
      await gates.shutdown();
    });

    it('by the clock, for as many rounds as there are', async () => {
      const { gates, emit } = open({ maxWaitMs: 5 });
      for (let round = 1; round <= 3; round += 1) {
        emit(2);
        await mock.arrived(DECISION_BATCH, round);
      }

      expect(batchSizes(mock, DECISION_BATCH)).to.deep.equal([2, 2, 2]);
      await gates.shutdown();
    });

    it('sends the same thirteen keys, with the arguments as they were at emit', async () => {
      const now = () => Date.UTC(2026, 0, 2);
      const args = { n: 1, token: 'secret' };
      const { gates, gate } = open(true, { now });
      gate.emit(decision({ arguments: args, event_id: 'e' }));
      args.n = 2;
      const single = gates.configure({ apiKey: 'single', baseUrl: mock.url });
      single.emit(decision({ arguments: { n: 1, token: 'secret' }, event_id: 'e' }));
      await gates.shutdown();

      expect(mock.seen(DECISION_BATCH)[0]?.text).to.equal(mock.seen(DECISIONS)[0]?.text);
    });

    it('usage events have batches of their own', async () => {
      const { gates, gate, emit } = open();
      emit(1);
      gate.emitLlm(usage);
      await gates.flush();

      expect(batchSizes(mock, DECISION_BATCH)).to.deep.equal([1]);
      expect(batchesOf(mock, USAGE_BATCH)[0]?.[0]).to.include({ model: 'm-1' });
      expect(gate.stats().sent).to.equal(2);
      await gates.shutdown();
    });
  });

  describe('bounds', () => {
    it('at most 32 batches are in flight; the rest waits for its turn', async () => {
      mock.on(DECISION_BATCH, { fault: 'hang' });
      const { gates, gate, emit } = open({ maxEvents: 2 });
      emit(70);
      await mock.arrived(DECISION_BATCH, 32);
      await new Promise((resolve) => setTimeout(resolve, 60));

      expect(mock.seen(DECISION_BATCH)).to.have.length(32);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 70 });
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('a batch that is answered makes room for the next one', async () => {
      const { gates, gate, emit } = open({ maxEvents: 1, maxWaitMs: 60_000 });
      emit(100);
      await mock.arrived(DECISION_BATCH, 100);
      await gates.flush();

      expect(gate.stats().sent).to.equal(100);
      expect(mock.connections()).to.be.at.most(32);
      await gates.shutdown();
    });

    it('events beyond maxPending are dropped unread and counted', async () => {
      const { gates, logger, gate, emit } = open({ maxPending: 5, maxWaitMs: 60_000 });
      emit(5);
      let reads = 0;
      gate.emit(new Proxy(decision(), { get: () => (reads += 1) }));
      emit(249);

      expect(reads).to.equal(0);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 250, in_flight: 5 });
      expect(logger.lines.map(({ context }) => context?.dropped)).to.deep.equal([1, 100, 200]);
      await gates.shutdown();
      expect(reasons()).to.deep.equal([['0', '1', '2', '3', '4']]);
    });

    it('at most 16 MiB wait', async () => {
      const { gates, gate, emit } = open({ maxWaitMs: 60_000 });
      emit(20, { reason: 'x'.repeat(MIB - 1_000) });

      expect(gate.stats()).to.include({ dropped: 4, in_flight: 16 });
      await gates.shutdown();
      expect(gate.stats()).to.include({ sent: 16, dropped: 4 });
    });

    it('a batch has at most 1 MiB, or one event', async () => {
      const { gates, emit } = open();
      emit(4, { reason: 'é'.repeat(150_000) });
      emit(1, { reason: 'é'.repeat(700_000) });
      emit(1);
      await gates.shutdown();

      expect(batchSizes(mock, DECISION_BATCH).toSorted((a, b) => a - b)).to.deep.equal([1, 1, 1, 3]);
      const bytes = mock.seen(DECISION_BATCH).map(({ text }) => Buffer.byteLength(text));
      expect(bytes.toSorted((a, b) => b - a)[1]).to.be.at.most(MIB);
    });

    it('a batch is full with 1 MiB, or with maxPending events', async () => {
      const { gates, emit } = open({ maxWaitMs: 60_000 });
      emit(2, { reason: 'x'.repeat(MIB / 2) });
      await mock.arrived(DECISION_BATCH, 1);
      await gates.shutdown();
      const { gates: others, emit: emitOther } = open({ maxWaitMs: 60_000, maxPending: 3 });
      emitOther(3);
      await mock.arrived(DECISION_BATCH, 3);
      await others.shutdown();

      expect(batchSizes(mock, DECISION_BATCH)).to.deep.equal([1, 1, 3]);
    });

    it('an event that cannot be built fails alone', async () => {
      const { gates, logger, gate, emit } = open();
      emit(1);
      const refuse = (): never => {
        throw new Error('no');
      };
      expect(() => gate.emit(new Proxy(decision(), { get: refuse }))).to.not.throw();
      emit(1, { reason: 'x'.repeat(2 * MIB) });
      emit(1);
      await gates.shutdown();

      expect(gate.stats()).to.deep.equal({ sent: 2, failed: 2, dropped: 0, in_flight: 0 });
      expect(logger.at('warn')).to.deep.equal(Array(2).fill('Audit event could not be built; event dropped'));
    });
  });

  describe('flush and shutdown', () => {
    it('flush sends what waits at once and resolves when all is answered', async () => {
      mock.on(DECISION_BATCH, { status: 202, delay_ms: 30 });
      const { gates, gate, emit } = open({ maxEvents: 2, maxWaitMs: 60_000 });
      emit(5);
      await gates.flush();

      expect(gate.stats()).to.deep.equal({ sent: 5, failed: 0, dropped: 0, in_flight: 0 });
      emit(1);
      await gates.shutdown();
      expect(gate.stats().sent).to.equal(6);
    });

    it('shutdown with a timeoutMs of null waits as without one', async () => {
      const { gates, gate, emit } = open({ maxEvents: 1 });
      emit(3);
      await gates.shutdown({ timeoutMs: null as unknown as number });

      expect(gate.stats()).to.include({ sent: 3, failed: 0 });
    });

    it('shutdown takes no more events; what is left at its timeout fails', async () => {
      mock.on(DECISION_BATCH, { fault: 'hang' });
      const { gates, logger, gate, emit } = open({ maxEvents: 1 });
      emit(40);
      await mock.arrived(DECISION_BATCH, 32);
      const ended = gates.shutdown({ timeoutMs: 30 });
      emit(1);
      await ended;

      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 40, dropped: 0, in_flight: 0 });
      expect(logger.at('warn')[0]).to.equal('Audit events were still waiting at shutdown; events dropped');
      expect(logger.lines[0]?.context).to.include({ events: 8 });
      expect(mock.seen(DECISION_BATCH).length).to.be.at.most(32);
    });
  });

  describe('the running event loop', () => {
    it('at its end a batch is waited for once, up to 15 seconds', async () => {
      mock.on(DECISION_BATCH, { fault: 'hang' });
      fakeTimeouts.enable();
      const { mock: spy } = nodeMock.method(nodeTimers, 'setTimeout');
      syncBuiltinESMExports();
      const waits = () => spy.calls.filter(({ arguments: [, delayMs] }) => delayMs === 15_000).length;
      let beforeEnd = (): void => undefined;
      const createLoop: GatesDeps['createLoop'] = (given) => {
        beforeEnd = given;
        return { identity: () => 'one', isRunning: () => true };
      };
      const { gates, gate } = openGate(mock, { batch: true, timeoutMs: 60_000 }, { createLoop });
      beforeEnd();
      expect(waits()).to.equal(0);
      gate.emit(decision());
      beforeEnd();
      await mock.arrived(DECISION_BATCH, 1);
      fakeTimeouts.tick(15_000);
      await new Promise(setImmediate);
      beforeEnd();
      expect(waits()).to.equal(1);
      spy.restore();
      fakeTimeouts.reset();
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('when it changes, connections and queue are new, and waiting events are sent', async () => {
      let identity = 'one';
      const createLoop = () => ({ identity: () => identity, isRunning: () => true });
      const { gates, gate, emit } = open({ maxPending: 2, maxWaitMs: 20 }, { createLoop });
      emit(2, { role: 'one' });
      identity = 'two';
      emit(2, { role: 'two' });
      await mock.arrived(DECISION_BATCH, 2);

      expect(gate.stats().dropped).to.equal(0);
      expect(mock.connections()).to.equal(2);
      const roles = batchesOf(mock, DECISION_BATCH).map((events) => events.map(({ role }) => role));
      expect(roles).to.have.deep.members([
        ['one', 'one'],
        ['two', 'two'],
      ]);
      await gates.shutdown();
    });
  });

  describe('options', () => {
    it('false is off, and so is nothing', async () => {
      const { gates, emit } = open(false);
      emit(2);
      await gates.shutdown();

      expect(mock.seen(DECISIONS)).to.have.length(2);
    });

    const wrong: [string, unknown][] = [
      ['maxEvents', 0],
      ['maxEvents', 1_001],
      ['maxEvents', 1.5],
      ['maxWaitMs', -1],
      ['maxWaitMs', NaN],
      ['maxWaitMs', Infinity],
      ['maxPending', 0],
      ['maxPending', '10'],
    ];
    for (const [name, value] of wrong) {
      it(`${name}: ${JSON.stringify(value)} is a ValueError`, () => {
        const configure = () => gatesWith().configure({ batch: { [name]: value } });

        expect(configure).to.throw(ValueError, `batch.${name} must be a whole number from`);
      });
    }

    it('a value that is not an object is a ValueError', () => {
      expect(() => gatesWith().configure({ batch: 100 as never })).to.throw(ValueError, 'batch must be');
    });

    it('takes the limits themselves', () => {
      for (const limits of [
        { maxEvents: 1_000, maxWaitMs: 0, maxPending: 1 },
        { maxEvents: 1, maxWaitMs: 2 ** 31 - 1, maxPending: undefined },
      ])
        expect(() => gatesWith().configure({ apiKey: 'k', batch: limits })).to.not.throw();
    });
  });
});
