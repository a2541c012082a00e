import { expect } from 'chai';
import {
  DECISION_BATCH,
  DECISIONS,
  USAGE,
  decision,
  gatesWith,
  openGate,
  startAuditServer,
  usage,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client emission rules: shutdown', () => {
  const mock = forEachTest(startAuditServer);

  it('drains in-flight sends and closes every sender of every event type', async () => {
    mock.on(DECISIONS, { status: 202, delay_ms: 100 });
    mock.on(USAGE, { status: 202, delay_ms: 100 });
    const gates = gatesWith();
    const both = ['a', 'b'].map((apiKey) => gates.configure({ apiKey, baseUrl: mock.url }));
    for (const gate of both) {
      gate.emit(decision());
      gate.emitLlm(usage);
    }
    await gates.shutdown();

    for (const gate of both) {
      expect(gate.stats()).to.deep.equal({ sent: 2, failed: 0, dropped: 0, in_flight: 0 });
      expect(gate.enabled).to.equal(false);
      gate.emit(decision());
      gate.emitLlm(usage);
      expect(gate.stats().in_flight).to.equal(0);
    }
    expect([...mock.seen(DECISIONS), ...mock.seen(USAGE)]).to.have.length(4);
  });

  it('closes the connections', async () => {
    const { gates, gate } = openGate(mock);
    gate.emit(decision());
    await gates.flush();
    expect(mock.connections()).to.equal(1);
    await gates.shutdown();
    await new Promise((resolve) => setTimeout(resolve, 50));

    expect(mock.connections()).to.equal(0);
  });

  it('is safe to call repeatedly, one after the other and at once', async () => {
    mock.on(DECISIONS, { status: 202, delay_ms: 50 });
    const gates = gatesWith();
    await gates.shutdown();
    const gate = gates.configure({ apiKey: 'k', baseUrl: mock.url });
    gate.emit(decision());
    await Promise.all([gates.shutdown(), gates.shutdown(), gates.flush()]);
    await gates.shutdown();

    expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 0 });
  });

  it('aborts events at its timeout, including one that waits for its retry', async () => {
    mock.on(DECISIONS, { fault: 'hang' });
    mock.on(USAGE, { status: 503 });
    const { gates, gate } = openGate(mock);
    gate.emit(decision());
    gate.emitLlm(usage);
    await mock.arrived(USAGE, 1);
    const startedAtMs = Date.now();
    await gates.shutdown({ timeoutMs: 100 });

    expect(Date.now() - startedAtMs).to.be.within(90, 1_000);
    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 2, dropped: 0, in_flight: 0 });
  });

  it('ends even if an aborted event does not', async () => {
    mock.on(DECISIONS, { status: 503 });
    const forever = new Promise<void>(() => undefined);
    const { gates, gate } = openGate(mock, {}, { sleep: () => forever });
    gate.emit(decision());
    await mock.arrived(DECISIONS, 1);

    await gates.shutdown({ timeoutMs: 1 });
  });

  it('accepts a timeout beyond the range of setTimeout', async () => {
    mock.on(DECISIONS, { status: 202, delay_ms: 50 });
    const { gates, gate } = openGate(mock);
    gate.emit(decision());
    await gates.shutdown({ timeoutMs: 2 ** 31 });

    expect(gate.stats()).to.include({ sent: 1, failed: 0 });
  });

  it('lets configure be called again', async () => {
    const { gates, gate: first } = openGate(mock);
    await gates.shutdown();
    const second = gates.configure({ apiKey: 'k', baseUrl: mock.url });
    second.emit(decision());
    await gates.shutdown();

    expect(second).to.not.equal(first);
    expect(second.stats().sent).to.equal(1);
  });

  for (const batch of [false, { maxEvents: 1 }])
    it(`flush does not wait for what is emitted after it, ${batch ? 'in batches' : 'one by one'}`, async () => {
      const route = batch ? DECISION_BATCH : DECISIONS;
      mock.on(route, { status: 202, delay_ms: 20 }, { fault: 'hang' });
      const { gates, gate } = openGate(mock, { batch });
      gate.emit(decision());
      const flushed = gates.flush();
      await mock.arrived(route, 1);
      gate.emit(decision());
      await flushed;

      expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 1 });
      await gates.shutdown({ timeoutMs: 1 });
    });
});
