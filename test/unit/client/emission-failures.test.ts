import { expect } from 'chai';
import type { GatesDeps } from '../../../client/audit/gates.ts';
import type { ConfigureOptions, Gate } from '../../../client/index.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { DECISIONS, decision, gatesWith, openGate, startAuditServer, usage } from '../../support/emission.ts';
import { withEnvironment } from '../../support/environment.ts';
import { fakeTimeouts } from '../../support/fake-timeouts.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const SENT = { sent: 1, failed: 0, dropped: 0, in_flight: 0 };
const FAILED = { sent: 0, failed: 1, dropped: 0, in_flight: 0 };
const UNREACHABLE = ['warn', 'Audit endpoint unreachable; event dropped'];

/** Like that of jsdom: not Node's EventTarget. */
class ForeignAbortController {
  readonly signal = {
    aborted: false,
    addEventListener: (): void => undefined,
    removeEventListener: (): void => undefined,
  };
  abort(): void {
    this.signal.aborted = true;
  }
}

/** The agent sees that emit returns undefined at once and does not throw. */
function emitAsAgent(gate: Gate, event = decision()): void {
  let returned: unknown = 'nothing yet';
  const tookMs = cpuMs(() => (returned = gate.emit(event)));
  expect(returned).to.equal(undefined);
  expect(tookMs).to.be.below(50);
}

describe('client emission rules', () => {
  const mock = forEachTest(startAuditServer);

  afterEach(() => fakeTimeouts.reset());

  const open = (options?: ConfigureOptions, deps?: Partial<GatesDeps>) => openGate(mock, options, deps);

  /** Emits one event and waits until it is settled. */
  async function emitOne(options?: ConfigureOptions, deps?: Partial<GatesDeps>) {
    const { gates, logger, gate } = open(options, deps);
    emitAsAgent(gate);
    await gates.flush();
    await gates.shutdown();
    return { stats: gate.stats(), logger, lines: logger.lines.map(({ level, message }) => [level, message]) };
  }

  it('no key: no sender, audit inert', async () => {
    await withEnvironment({}, async () => {
      const gates = gatesWith({ createLoop: () => expect.fail('a sender was made') });
      const logger = captureLogger();
      const gate = gates.configure({ baseUrl: mock.url, logger });
      emitAsAgent(gate);
      gate.emitLlm(usage);
      await gates.shutdown();

      expect(gate.enabled).to.equal(false);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 0 });
      expect(mock.requests).to.deep.equal([]);
      expect(logger.lines).to.deep.equal([]);
    });
  });

  it('sender saturated: dropped, warning on the 1st drop and then every 100th', async () => {
    mock.on(DECISIONS, { fault: 'hang' });
    const { gates, logger, gate } = open({ timeoutMs: 200 });
    for (let i = 0; i < 32 + 250; i += 1) emitAsAgent(gate);

    expect(gate.stats()).to.include({ dropped: 250, in_flight: 32 });
    expect(logger.at('warn')).to.have.length(3);
    expect(logger.lines.map(({ context }) => context?.dropped)).to.deep.equal([1, 100, 200]);
    await gates.shutdown();
  });

  const withoutText: [string, unknown][] = [
    ['an object without a prototype', Object.create(null)],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: refuse })],
  ];
  for (const [what, thrown] of withoutText) {
    it(`an event whose getter throws ${what} is logged and dropped`, async () => {
      const { gates, logger, gate } = open();
      const getter = () => refuse(thrown);
      emitAsAgent(gate, Object.defineProperty(decision(), 'agent_name', { get: getter }));
      await gates.shutdown();

      expect(gate.stats()).to.deep.equal(FAILED);
      expect(logger.at('warn')).to.deep.equal(['Audit event could not be built; event dropped']);
    });
  }

  it('a logger that throws does not disturb the agent', async () => {
    mock.on(DECISIONS, { status: 422 });
    const broken = () => refuse();
    const logger = { debug: broken, info: broken, warn: broken, error: broken };

    expect((await emitOne({ logger })).stats.failed).to.equal(1);
  });

  describe('on HTTP 503 the client retries once', () => {
    for (const [timeoutMs, waitMs] of [
      [5_000, 2_000],
      [800, 800],
    ] as const) {
      it(`after ${waitMs} ms with a timeout of ${timeoutMs} ms, whatever Retry-After says`, async () => {
        mock.on(DECISIONS, { status: 503, headers: { 'Retry-After': '60' } }, { status: 202 });
        const waits: number[] = [];
        const { stats } = await emitOne({ timeoutMs }, { sleep: async (ms) => void waits.push(ms) });
        const [first, second] = mock.seen(DECISIONS);

        expect(waits).to.deep.equal([waitMs]);
        expect(second?.text).to.equal(first?.text);
        expect(stats).to.deep.equal(SENT);
      });
    }

    it('by the clock', async () => {
      mock.on(DECISIONS, { status: 503 }, { status: 202 });
      await emitOne({ timeoutMs: 150 });
      const [first, second] = mock.seen(DECISIONS);

      expect((second?.at ?? 0) - (first?.at ?? 0)).to.be.within(140, 600);
    });

    it('then logs the event', async () => {
      mock.on(DECISIONS, { status: 503 });
      const { stats, logger } = await emitOne({ timeoutMs: 200 }, { sleep: () => Promise.resolve() });

      expect(mock.seen(DECISIONS)).to.have.length(2);
      expect(stats).to.deep.equal(FAILED);
      expect(logger.at('warn')).to.deep.equal([
        'Audit ingest still unavailable (503) after one retry; event dropped',
      ]);
    });

    it('an event that waits for its retry keeps its slot', async () => {
      mock.on(DECISIONS, { status: 503 });
      const waiting = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const { gates, gate } = open({}, { sleep: () => (waiting.resolve(), go.promise) });
      gate.emit(decision());
      await waiting.promise;

      expect(gate.stats().in_flight).to.equal(1);
      go.resolve();
      await gates.shutdown();
      expect(mock.seen(DECISIONS)).to.have.length(2);
    });

    for (const status of [302, 400, 401, 404, 413, 422, 429, 500, 502, 504]) {
      it(`${status} is logged and not retried`, async () => {
        const json = { code: 'some_code', detail: 'what is wrong' };
        mock.on(DECISIONS, { status, headers: { Location: '/elsewhere' }, json });
        const { stats, logger } = await emitOne();

        expect(mock.seen(DECISIONS)).to.have.length(1);
        expect(stats).to.deep.equal(FAILED);
        const context = { path: '/v1/audit/decisions', problem: 'some_code: what is wrong' };
        const message = `Audit ingest error ${status}`;
        expect(logger.lines).to.deep.equal([{ level: 'warn', message, context }]);
      });
    }
  });

  for (const status of [401, 403]) {
    it(`a key that is refused with ${status} is a warning once, then at every hundredth event`, async () => {
      mock.on(DECISIONS, { status, json: { code: 'unauthenticated', detail: 'no' } });
      const { gates, gate, logger } = open();
      for (let sent = 0; sent < 250; sent += 25) {
        for (let i = 0; i < 25; i += 1) gate.emit(decision());
        await gates.flush();
      }

      expect(gate.stats()).to.include({ failed: 250 });
      expect(logger.lines.map(({ message }) => message)).to.deep.equal(
        Array<string>(250).fill(`Audit ingest error ${status}`),
      );
      const warnings = logger.lines.filter(({ level }) => level === 'warn');
      expect(warnings.map(({ context }) => context?.refusals)).to.deep.equal([undefined, 100, 200]);
    });
  }

  describe('network errors are logged at WARNING and dropped', () => {
    for (const fault of ['reset', 'reset_mid_body', 'cut_mid_body', 'hang', 'slow_body'] as const) {
      it(fault, async () => {
        mock.on(DECISIONS, { fault, status: 202 });
        const { stats, lines } = await emitOne({ timeoutMs: 100 });

        expect(mock.seen(DECISIONS)).to.have.length(1);
        expect(stats).to.deep.equal(FAILED);
        expect(lines).to.deep.equal([UNREACHABLE]);
      });
    }

    for (const baseUrl of ['http://127.0.0.1:1', 'https://no-such-host.invalid', 'not an address']) {
      it(`nothing at ${baseUrl}`, async () => {
        const { stats, lines } = await emitOne({ baseUrl });

        expect(stats).to.deep.equal(FAILED);
        expect(lines).to.deep.equal([UNREACHABLE]);
      });
    }

    it('a response that switches protocols', async () => {
      mock.on(DECISIONS, { status: 101, headers: { Connection: 'Upgrade', Upgrade: 'websocket' } });
      const { stats, lines } = await emitOne();

      expect(stats).to.deep.equal(FAILED);
      expect(lines).to.deep.equal([UNREACHABLE]);
    });

    it('logs no key, not even one that cannot be sent in a header', async () => {
      const { logger } = await emitOne({ apiKey: 'secret\nkey' });

      expect(logger.lines).to.have.length(1);
      expect(JSON.stringify(logger.lines)).to.not.include('secret');
    });

    it('logs no key that an answer repeats', async () => {
      const apiKey = 'a-key-of-some-length';
      mock.on(DECISIONS, { status: 400, json: { code: 'odd', detail: `bad header Bearer ${apiKey}` } });

      const { logger } = await emitOne({ apiKey });

      expect(logger.lines[0]?.context?.['problem']).to.equal('odd: bad header Bearer [redacted]');
    });
  });

  for (const batch of [false, true])
    it(`sends where a DOM environment and fake timers replace the globals, batch: ${batch}`, async () => {
      const globals = { setTimeout, setInterval, setImmediate, AbortController };
      const stuck = (): number => 1;
      Object.assign(globalThis, { setTimeout: stuck, setInterval: stuck, setImmediate: stuck });
      Object.assign(globalThis, { AbortController: ForeignAbortController });
      try {
        const { gates, gate, logger } = open({ batch });
        gate.emit(decision());
        await gates.flush();
        await gates.shutdown();

        expect(gate.stats()).to.deep.equal(SENT);
        expect(logger.lines).to.deep.equal([]);
      } finally {
        Object.assign(globalThis, globals);
      }
    });

  describe('the HTTP timeout is 5 seconds', () => {
    it('a timeout beyond the range of setTimeout does not become 1 ms', async () => {
      mock.on(DECISIONS, { status: 202, delay_ms: 50 });

      expect((await emitOne({ timeoutMs: Infinity })).stats).to.deep.equal(SENT);
    });

    it('is the default', async () => {
      mock.on(DECISIONS, { fault: 'hang' });
      fakeTimeouts.enable();
      const { gates, logger, gate } = open();
      gate.emit(decision());
      await mock.arrived(DECISIONS, 1);
      fakeTimeouts.tick(4_999);
      expect(gate.stats()).to.include({ failed: 0, in_flight: 1 });
      fakeTimeouts.tick(1);
      await gates.flush();

      expect(gate.stats()).to.include({ failed: 1, in_flight: 0 });
      expect(logger.lines[0]?.context).to.include({ problem: 'no answer within 5000 ms' });
      await gates.shutdown();
    });
  });
});

function refuse(thrown: unknown = new Error('no')): never {
  throw thrown;
}
