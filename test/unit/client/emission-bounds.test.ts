import { expect } from 'chai';
import { captureLogger } from '../../support/capture-logger.ts';
import { DECISIONS, USAGE, decision, gatesWith, startAuditServer, usage } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client emission rules', () => {
  const mock = forEachTest(startAuditServer);

  describe('at most 32 POSTs are in flight per sender', () => {
    it('the 33rd event is dropped and counted; another path and another key have their own 32', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      mock.on(USAGE, { fault: 'hang' });
      const gates = gatesWith();
      const logger = captureLogger();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger });
      const other = gates.configure({ apiKey: 'k2', baseUrl: mock.url, logger });
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      for (let i = 0; i < 34; i += 1) gate.emitLlm(usage);
      other.emit(decision());
      await mock.arrived(DECISIONS, 33);
      await mock.arrived(USAGE, 32);

      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 3, in_flight: 64 });
      expect(other.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 1 });
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('reads nothing of a dropped event', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      const gates = gatesWith();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger: captureLogger() });
      for (let i = 0; i < 32; i += 1) gate.emit(decision());
      let reads = 0;
      gate.emit(new Proxy(decision(), { get: () => (reads += 1) }));

      expect(reads).to.equal(0);
      await gates.shutdown({ timeoutMs: 1 });
    });

    it('frees a slot when its event is settled', async () => {
      const gates = gatesWith();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url });
      for (let round = 0; round < 3; round += 1) {
        for (let i = 0; i < 32; i += 1) gate.emit(decision());
        await gates.flush();
      }

      expect(gate.stats()).to.deep.equal({ sent: 96, failed: 0, dropped: 0, in_flight: 0 });
      expect(mock.connections()).to.be.at.most(32);
      await gates.shutdown();
    });
  });

  describe('with no running event loop, emission does nothing', () => {
    it('and logs a one-time warning', async () => {
      const logger = captureLogger();
      const gates = gatesWith({ createLoop: () => ({ identity: () => 'one', isRunning: () => false }) });
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger });
      gate.emit(decision());
      gate.emit(decision());
      await gates.shutdown();

      expect(mock.requests).to.have.length(0);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 0 });
      expect(logger.at('warn')).to.have.length(1);
    });
  });

  describe('when the running event loop changes', () => {
    it('makes new connections and a new limit of sends in flight', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      let identity = 'one';
      const gates = gatesWith({
        createLoop: () => ({ identity: () => identity, isRunning: () => true }),
      });
      const gate = gates.configure({
        apiKey: 'k',
        baseUrl: mock.url,
        logger: captureLogger(),
        timeoutMs: 300,
      });
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      await mock.arrived(DECISIONS, 32);
      expect(gate.stats()).to.include({ dropped: 1, in_flight: 32 });
      identity = 'two';
      for (let i = 0; i < 33; i += 1) gate.emit(decision());
      await mock.arrived(DECISIONS, 64);

      expect(gate.stats()).to.include({ dropped: 2, in_flight: 32 });
      expect(mock.connections()).to.equal(64);
      await gates.shutdown();
    });
  });
});
