import { expect } from 'chai';
import { captureLogger } from '../../support/capture-logger.ts';
import { decision, gatesWith, startAuditServer } from '../../support/emission.ts';
import { withEnvironment } from '../../support/environment.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client emission rules: with GATE_LOCAL_MODE truthy', () => {
  const mock = forEachTest(startAuditServer);

  for (const value of ['1', 'true', 'YES', 'On']) {
    it(`(${value}) no sender is created even if a key is present`, async () => {
      const variables = { GATE_LOCAL_MODE: value, GATE_API_KEY: 'k', GATE_BASE_URL: mock.url };
      await withEnvironment(variables, async () => {
        const gates = gatesWith();
        const gate = gates.configure({ logger: captureLogger() });
        gate.emit(decision());
        await gates.shutdown();

        expect(gate.enabled).to.equal(false);
        expect(mock.requests).to.have.length(0);
      });
    });
  }

  for (const value of ['0', 'false', 'no', 'off', '2', '']) {
    it(`not truthy: ${JSON.stringify(value)}`, async () => {
      await withEnvironment({ GATE_LOCAL_MODE: value }, () => {
        expect(gatesWith().configure({ apiKey: 'k' }).enabled).to.equal(true);
      });
    });
  }

  it('logs one info line per path when a key is set in local mode', async () => {
    await withEnvironment({ GATE_LOCAL_MODE: '1' }, () => {
      const logger = captureLogger();
      const gates = gatesWith();
      gates.configure({ logger });
      expect(logger.lines).to.deep.equal([]);
      gates.configure({ apiKey: 'k', logger });
      gates.configure({ apiKey: 'k', logger });
      gates.configure({ apiKey: 'k2', logger });

      expect(logger.at('info')).to.deep.equal([
        'Local mode: nothing is sent to /v1/audit/decisions, although a key is set',
        'Local mode: nothing is sent to /v1/audit/llm-invocations, although a key is set',
      ]);
    });
  });

  it('reads the variable at every configure', async () => {
    const gates = gatesWith();
    const options = { apiKey: 'k', logger: captureLogger() };
    const enabled: boolean[] = [];
    for (const mode of ['1', '0', 'true', ''])
      await withEnvironment({ GATE_LOCAL_MODE: mode }, () => enabled.push(gates.configure(options).enabled));

    expect(enabled).to.deep.equal([false, true, false, true]);
  });

  it('keeps the last value where the environment cannot be read any more, as in Deno', async () => {
    const gates = gatesWith();
    const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url, logger: captureLogger() });
    const { env } = process;
    const get = () => {
      throw new Error('not permitted');
    };
    process.env = new Proxy(env, { get });
    try {
      gate.emit(decision());
    } finally {
      process.env = env;
    }
    await gates.shutdown();

    expect(gate.stats()).to.include({ sent: 1 });
  });
});
