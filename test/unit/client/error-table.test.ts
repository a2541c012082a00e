import { expect } from 'chai';
import { Gates } from '../../../client/audit/gates.ts';
import type { Gate, Logger } from '../../../client/index.ts';
import { captureLogger } from '../../support/capture-logger.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { withEnvironment } from '../../support/environment.ts';
import { startMockServer } from '../../support/mock-server.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const DECISIONS = 'POST /v1/audit/decisions';

type Situation = { gate: Gate; settle: () => Promise<void> };

/** The agent sees that emit returns undefined at once and does not throw. */
function emitAsAgent(gate: Gate): void {
  let returned: unknown = 'nothing yet';
  const tookMs = cpuMs(() => (returned = gate.emit({ agent_name: 'a', tool_name: 't', outcome: 'allow' })));
  expect(returned).to.equal(undefined);
  expect(tookMs).to.be.below(50);
}

function throwItself(): never {
  throw new Error('no text to be had');
}

describe('client behaviour on errors', () => {
  const mock = forEachTest(startMockServer);

  function open(logger: Logger, baseUrl = mock.url): Situation {
    const gates = new Gates({
      now: Date.now,
      sleep: () => Promise.resolve(),
      createLoop: () => ({ identity: () => 'one', isRunning: () => true }),
    });
    const gate = gates.configure({ apiKey: 'k', baseUrl, logger, timeoutMs: 200 });
    return { gate, settle: () => gates.shutdown() };
  }

  it('no key: no sender, audit inert; agent impact: none', async () => {
    await withEnvironment({}, async () => {
      const logger = captureLogger();
      const gates = new Gates({
        now: Date.now,
        sleep: () => Promise.resolve(),
        createLoop: () => expect.fail('a sender was made'),
      });
      const gate = gates.configure({ baseUrl: mock.url, logger });
      emitAsAgent(gate);
      gate.emitLlm({ agent_name: 'a', model: 'm', input_tokens: 1, output_tokens: 1 });
      await gates.shutdown();

      expect(gate.enabled).to.equal(false);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 0 });
      expect(mock.requests).to.deep.equal([]);
      expect(logger.lines).to.deep.equal([]);
    });
  });

  it('sender saturated: dropped, warning on the 1st drop and then every 100th; agent impact: none', async () => {
    mock.on(DECISIONS, { fault: 'hang' });
    const logger = captureLogger();
    const { gate, settle } = open(logger);
    for (let i = 0; i < 32 + 250; i += 1) emitAsAgent(gate);

    expect(gate.stats()).to.include({ dropped: 250, in_flight: 32 });
    expect(logger.at('warn')).to.have.length(3);
    expect(logger.lines.map(({ context }) => context?.dropped)).to.deep.equal([1, 100, 200]);
    await settle();
  });

  it('503: one retry, then logged; agent impact: none', async () => {
    mock.on(DECISIONS, { status: 503 });
    const logger = captureLogger();
    const { gate, settle } = open(logger);
    emitAsAgent(gate);
    await settle();

    expect(mock.requests).to.have.length(2);
    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
    expect(logger.at('warn')).to.deep.equal([
      'Audit ingest still unavailable (503) after one retry; event dropped',
    ]);
  });

  for (const status of [400, 413, 422]) {
    it(`${status}: logged as ingest error; agent impact: none`, async () => {
      mock.on(DECISIONS, { status, json: { code: 'some_code', detail: 'what is wrong' } });
      const logger = captureLogger();
      const { gate, settle } = open(logger);
      emitAsAgent(gate);
      await settle();

      expect(mock.requests).to.have.length(1);
      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
      expect(logger.lines).to.deep.equal([
        {
          level: 'warn',
          message: `Audit ingest error ${status}`,
          context: { path: '/v1/audit/decisions', problem: 'some_code: what is wrong' },
        },
      ]);
    });
  }

  it('network unreachable: logged, dropped; agent impact: none', async () => {
    const logger = captureLogger();
    const { gate, settle } = open(logger, 'http://127.0.0.1:1');
    emitAsAgent(gate);
    await settle();

    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
    expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; event dropped']);
  });

  const withoutText: [string, unknown][] = [
    ['an object without a prototype', Object.create(null)],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: throwItself })],
  ];
  for (const [what, thrown] of withoutText) {
    it(`an event whose getter throws ${what}: agent impact: none`, async () => {
      const logger = captureLogger();
      const { gate, settle } = open(logger);
      gate.emit({
        get agent_name(): string {
          throw thrown;
        },
        tool_name: 't',
        outcome: 'allow',
      });
      await settle();

      expect(gate.stats()).to.deep.equal({ sent: 0, failed: 1, dropped: 0, in_flight: 0 });
      expect(logger.at('warn')).to.deep.equal(['Audit event could not be built; event dropped']);
    });
  }

  it('a logger that throws: agent impact: none', async () => {
    mock.on(DECISIONS, { status: 422 });
    const broken = (): never => {
      throw new Error('the log is full');
    };
    const { gate, settle } = open({ debug: broken, info: broken, warn: broken, error: broken });
    emitAsAgent(gate);
    await settle();

    expect(gate.stats().failed).to.equal(1);
  });
});
