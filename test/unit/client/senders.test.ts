import { expect } from 'chai';
import { captureLogger } from '../../support/capture-logger.ts';
import {
  DECISIONS,
  USAGE,
  bodiesOf,
  decision,
  emitterWith,
  startAuditServer,
  usage,
} from '../../support/emission.ts';
import { withEnvironment } from '../../support/environment.ts';

describe('one sender per (key, path) (spec 5)', () => {
  it('configuring again with the same key returns the same sender', () => {
    const emitter = emitterWith();

    expect(emitter.configure({ apiKey: 'k' })).to.equal(emitter.configure({ apiKey: 'k' }));
  });

  it('a different key gets its own sender with its own bearer', async () => {
    const mock = await startAuditServer();
    mock.on(DECISIONS, { status: 202 });
    const emitter = emitterWith();
    emitter.configure({ apiKey: 'a', baseUrl: mock.url }).emit(decision());
    emitter.configure({ apiKey: 'b', baseUrl: mock.url }).emit(decision());
    await emitter.shutdown();
    await mock.close();

    expect(mock.requests.map(({ headers }) => headers.authorization)).to.have.members([
      'Bearer a',
      'Bearer b',
    ]);
  });

  it('a second configure with another base address warns and keeps the first', () => {
    const logger = captureLogger();
    const emitter = emitterWith();
    emitter.configure({ apiKey: 'k', baseUrl: 'http://one', logger });
    emitter.configure({ apiKey: 'k', baseUrl: 'http://one', logger });
    expect(logger.lines).to.deep.equal([]);
    emitter.configure({ apiKey: 'k', baseUrl: 'http://two', logger });

    expect(logger.at('warn')).to.have.length(1);
    expect(logger.lines[0]?.context).to.deep.equal({ baseUrl: 'http://one' });
  });

  it('warns as well when the other base address is that of GATE_BASE_URL, and not when none is given', async () => {
    const logger = captureLogger();
    const emitter = emitterWith();
    await withEnvironment({ GATE_BASE_URL: 'http://one' }, () => {
      emitter.configure({ apiKey: 'k', logger });
      emitter.configure({ apiKey: 'k', logger });
    });
    await withEnvironment({}, () => emitter.configure({ apiKey: 'k', logger }));
    expect(logger.lines).to.deep.equal([]);
    await withEnvironment({ GATE_BASE_URL: 'http://two' }, () => {
      emitter.configure({ apiKey: 'k', logger });
      emitter.configure({ apiKey: 'k', logger, baseUrl: 'http://one/' });
    });

    expect(logger.lines.map(({ context }) => context)).to.deep.equal([{ baseUrl: 'http://one' }]);
  });

  it('the key comes from the argument, else from GATE_API_KEY; with no key, audit is inert', async () => {
    await withEnvironment({ GATE_API_KEY: 'env' }, () => {
      const emitter = emitterWith();
      const fromEnvironment = emitter.configure();

      expect(fromEnvironment.enabled).to.equal(true);
      expect(emitter.configure({ apiKey: 'env' })).to.equal(fromEnvironment);
      expect(emitter.configure({ apiKey: 'other' })).to.not.equal(fromEnvironment);
    });
    await withEnvironment({ GATE_KEY: 'for policies' }, () => {
      expect(emitterWith().configure().enabled).to.equal(false);
    });
  });
});

describe('LLM usage (spec 4.2)', () => {
  it('sends every key of the usage event', async () => {
    const mock = await startAuditServer();
    mock.on(USAGE, { status: 202 });
    const emitter = emitterWith({ now: () => 0 });
    const gate = emitter.configure({ apiKey: 'k', baseUrl: mock.url });
    gate.emitLlm({ ...usage, event_id: 'e', occurred_at: new Date(1), duration_ms: 1.6 });
    await emitter.shutdown();
    await mock.close();

    expect(bodiesOf(mock, USAGE)).to.deep.equal([
      {
        event_id: 'e',
        occurred_at: '1970-01-01T00:00:00.001Z',
        agent_name: 'support-bot',
        model: 'm-1',
        provider: '',
        operation: 'chat',
        input_tokens: 12,
        output_tokens: 34,
        cached_input_tokens: 0,
        reasoning_tokens: 0,
        duration_ms: 2,
        cost_usd: null,
        finish_reason: '',
        error_type: '',
        role: '',
        user_id: '',
        session_id: '',
      },
    ]);
  });
});
