import { expect } from 'chai';
import { captureLogger } from '../../support/capture-logger.ts';
import {
  DECISIONS,
  USAGE,
  bodiesOf,
  decision,
  gatesWith,
  openGate,
  startAuditServer,
  usage,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import { withEnvironment } from '../../support/environment.ts';

describe('one sender per (key, path)', () => {
  const mock = forEachTest(startAuditServer);

  it('returns the same gate for the same key', () => {
    const gates = gatesWith();

    expect(gates.configure({ apiKey: 'k' })).to.equal(gates.configure({ apiKey: 'k' }));
  });

  it('a different key gets its own sender with its own bearer', async () => {
    const gates = gatesWith();
    gates.configure({ apiKey: 'a', baseUrl: mock.url }).emit(decision());
    gates.configure({ apiKey: 'b', baseUrl: mock.url }).emit(decision());
    await gates.shutdown();

    const bearers = mock.seen(DECISIONS).map(({ headers }) => headers.authorization);
    expect(bearers).to.have.members(['Bearer a', 'Bearer b']);
  });

  it('warns of a second configure with another base URL and keeps the first', () => {
    const logger = captureLogger();
    const gates = gatesWith();
    gates.configure({ apiKey: 'k', baseUrl: 'https://one', logger });
    gates.configure({ apiKey: 'k', baseUrl: 'https://one', logger });
    expect(logger.lines).to.deep.equal([]);
    gates.configure({ apiKey: 'k', baseUrl: 'https://two', logger });

    expect(logger.at('warn')).to.have.length(1);
    expect(logger.lines[0]?.context).to.deep.equal({ baseUrl: 'https://one' });
  });

  it('warns if GATE_BASE_URL differs, and not without a base URL', async () => {
    const logger = captureLogger();
    const gates = gatesWith();
    await withEnvironment({ GATE_BASE_URL: 'https://one' }, () => {
      gates.configure({ apiKey: 'k', logger });
      gates.configure({ apiKey: 'k', logger });
    });
    await withEnvironment({}, () => gates.configure({ apiKey: 'k', logger }));
    expect(logger.lines).to.deep.equal([]);
    await withEnvironment({ GATE_BASE_URL: 'https://two' }, () => {
      gates.configure({ apiKey: 'k', logger });
      gates.configure({ apiKey: 'k', logger, baseUrl: 'https://one/' });
    });

    expect(logger.lines.map(({ context }) => context)).to.deep.equal([{ baseUrl: 'https://one' }]);
  });

  it('the key comes from the argument, else from GATE_API_KEY; with no key, audit is inert', async () => {
    await withEnvironment({ GATE_API_KEY: 'env' }, () => {
      const gates = gatesWith();
      const fromEnvironment = gates.configure();

      expect(fromEnvironment.enabled).to.equal(true);
      expect(gates.configure({ apiKey: 'env' })).to.equal(fromEnvironment);
      expect(gates.configure({ apiKey: 'other' })).to.not.equal(fromEnvironment);
    });
    await withEnvironment({ GATE_KEY: 'for policies' }, () => {
      expect(gatesWith().configure().enabled).to.equal(false);
    });
  });

  it('LLM usage: sends every key of the usage event', async () => {
    const { gates, gate } = openGate(mock, {}, { now: () => 0 });
    gate.emitLlm({ ...usage, event_id: 'e', occurred_at: new Date(1), duration_ms: 1.6 });
    await gates.shutdown();

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
