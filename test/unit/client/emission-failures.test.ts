import { mock as nodeMock } from 'node:test';
import { expect } from 'chai';
import { captureLogger } from '../../support/capture-logger.ts';
import { DECISIONS, decision, gatesWith, startAuditServer } from '../../support/emission.ts';
import type { MockServer } from '../../support/mock-server.ts';

const { timers } = nodeMock;

describe('client emission rules', () => {
  let mock: MockServer;

  beforeEach(async () => {
    mock = await startAuditServer();
  });

  afterEach(async () => {
    timers.reset();
    await mock.close();
  });

  describe('on HTTP 503 the client retries once', () => {
    for (const { timeoutMs, waitMs } of [
      { timeoutMs: 5_000, waitMs: 2_000 },
      { timeoutMs: 800, waitMs: 800 },
    ]) {
      it(`after ${waitMs} ms with a timeout of ${timeoutMs} ms, whatever Retry-After says`, async () => {
        mock.on(DECISIONS, { status: 503, headers: { 'Retry-After': '60' } }, { status: 202 });
        const waits: number[] = [];
        const gates = gatesWith({ sleep: async (ms) => void waits.push(ms) });
        const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, timeoutMs });
        gate.emit(decision());
        await gates.shutdown();
        const [first, second] = mock.seen(DECISIONS);

        expect(waits).to.deep.equal([waitMs]);
        expect(second?.text).to.equal(first?.text);
        expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 0 });
      });
    }

    it('by the clock', async () => {
      mock.on(DECISIONS, { status: 503 }, { status: 202 });
      const gates = gatesWith();
      gates.configure({ apiKey: 'k', baseUrl: mock.url, timeoutMs: 150 }).emit(decision());
      await gates.shutdown();
      const [first, second] = mock.seen(DECISIONS);

      expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.within(140, 600);
    });

    it('an event that waits for its retry keeps its slot', async () => {
      mock.on(DECISIONS, { status: 503 });
      const waiting = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const gates = gatesWith({ sleep: () => (waiting.resolve(), go.promise) });
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger: captureLogger() });
      gate.emit(decision());
      await waiting.promise;

      expect(gate.stats().in_flight).to.equal(1);
      go.resolve();
      await gates.shutdown();
      expect(mock.seen(DECISIONS)).to.have.length(2);
    });

    for (const status of [302, 400, 401, 404, 413, 422, 429, 500, 502, 504]) {
      it(`${status} is logged and not retried`, async () => {
        mock.on(DECISIONS, { status, headers: { Location: '/elsewhere' }, json: { code: 'some_code' } });
        const logger = captureLogger();
        const gates = gatesWith();
        const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger });
        gate.emit(decision());
        await gates.shutdown();

        expect(mock.requests).to.have.length(1);
        expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
        expect(logger.at('warn')).to.deep.equal([`Audit ingest error ${status}`]);
        expect(logger.lines[0]?.context).to.include({ problem: 'some_code' });
      });
    }
  });

  describe('network errors are logged at WARNING and dropped', () => {
    for (const fault of ['reset', 'reset_mid_body', 'cut_mid_body', 'hang', 'slow_body'] as const) {
      it(fault, async () => {
        mock.on(DECISIONS, { fault, status: 202 });
        const logger = captureLogger();
        const gates = gatesWith();
        const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger, timeoutMs: 100 });
        gate.emit(decision());
        await gates.shutdown();

        expect(mock.requests).to.have.length(1);
        expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
        expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
          ['warn', 'Audit endpoint unreachable; event dropped'],
        ]);
      });
    }

    for (const baseUrl of ['http://127.0.0.1:1', 'http://no-such-host.invalid', 'not an address']) {
      it(`nothing at ${baseUrl}`, async () => {
        const logger = captureLogger();
        const gates = gatesWith();
        const gate = gates.configure({ apiKey: 'k', baseUrl, logger });
        gate.emit(decision());
        await gates.shutdown();

        expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
        expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; event dropped']);
      });
    }

    it('a response that switches protocols', async () => {
      mock.on(DECISIONS, { status: 101, headers: { Connection: 'Upgrade', Upgrade: 'websocket' } });
      const logger = captureLogger();
      const gates = gatesWith();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger });
      gate.emit(decision());
      await gates.flush();

      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
      expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; event dropped']);
      await gates.shutdown();
    });

    it('counts a 202 with a broken body as sent', async () => {
      mock.on(DECISIONS, { fault: 'torn_json', status: 202 });
      const gates = gatesWith();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url });
      gate.emit(decision());
      await gates.shutdown();

      expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 0 });
    });

    it('logs no key, not even one that cannot be sent in a header', async () => {
      const logger = captureLogger();
      const gates = gatesWith();
      gates.configure({ apiKey: 'secret\nkey', baseUrl: mock.url, logger }).emit(decision());
      await gates.shutdown();

      expect(logger.lines).to.have.length(1);
      expect(JSON.stringify(logger.lines)).to.not.include('secret');
    });
  });

  describe('the HTTP timeout is 5 seconds', () => {
    it('a timeout beyond the range of setTimeout does not become 1 ms', async () => {
      mock.on(DECISIONS, { status: 202, delay_ms: 50 });
      const gates = gatesWith();
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, timeoutMs: Infinity });
      gate.emit(decision());
      await gates.flush();

      expect(gate.stats()).to.include({ sent: 1, failed: 0 });
      await gates.shutdown();
    });

    it('is the default', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      const logger = captureLogger();
      const gates = gatesWith();
      timers.enable({ apis: ['setTimeout'] });
      const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger });
      gate.emit(decision());
      await mock.arrived(DECISIONS, 1);
      timers.tick(4_999);
      expect(gate.stats()).to.include({ failed: 0, in_flight: 1 });
      timers.tick(1);
      await gates.flush();

      expect(gate.stats()).to.include({ failed: 1, in_flight: 0 });
      expect(logger.lines[0]?.context).to.include({ problem: 'no answer within 5000 ms' });
      await gates.shutdown();
    });
  });
});
