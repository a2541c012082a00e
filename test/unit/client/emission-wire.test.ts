import { expect } from 'chai';
import type { DecisionInput } from '../../../client/index.ts';
import {
  bodiesOf,
  decision,
  DECISIONS,
  openGate,
  startAuditServer,
  usage,
  USAGE,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client emission rules: emission is non-blocking and asynchronous', () => {
  const mock = forEachTest(startAuditServer);

  it('emit returns before anything is on the wire', async () => {
    const { gates, gate } = openGate(mock);

    expect(gate.emit(decision())).to.equal(undefined);
    expect(mock.connections()).to.equal(0);
    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 1 });
    await gates.shutdown();

    expect(mock.seen(DECISIONS)).to.have.length(1);
    expect(gate.stats()).to.deep.equal({ sent: 1, failed: 0, dropped: 0, in_flight: 0 });
  });

  it('records the arguments as they were at emit', async () => {
    const { gates, gate } = openGate(mock);
    const args = { n: 1, list: [1] };
    gate.emit(decision({ arguments: args }));
    args.n = 2;
    args.list.push(2);
    await gates.shutdown();

    expect(bodiesOf(mock, DECISIONS)[0]?.arguments).to.deep.equal({ n: 1, list: [1] });
  });

  it('sends the thirteen keys, and the bearer key', async () => {
    const now = () => Date.UTC(2026, 0, 2, 3, 4, 5, 678);
    const { gates, gate } = openGate(mock, { baseUrl: `${mock.url}/` }, { now });
    gate.emit(decision({ outcome: 'deny' }));
    await gates.shutdown();
    const [request] = mock.seen(DECISIONS);
    const { event_id, ...event } = bodiesOf(mock, DECISIONS)[0] ?? {};

    expect(request?.headers.authorization).to.equal('Bearer k');
    expect(request?.headers['content-type']).to.equal('application/json');
    expect(event_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(event).to.deep.equal({
      occurred_at: '2026-01-02T03:04:05.678Z',
      agent_name: 'support-bot',
      tool_name: 'search',
      outcome: 'deny',
      role: '',
      error_type: 'policy_denied',
      reason: '',
      violations: [],
      hint: null,
      arguments: null,
      user_id: '',
      session_id: '',
    });
  });

  it('redacts arguments and hint, and truncates arguments only', async () => {
    const { gates, gate } = openGate(mock);
    const hint = { token: 'x', text: 'y'.repeat(9_000) };
    gate.emit(decision({ hint, arguments: { password: 'x', text: 'z'.repeat(9_000) } }));
    await gates.shutdown();
    const [body] = bodiesOf(mock, DECISIONS);

    expect(body?.hint).to.deep.equal({ token: '[REDACTED]', text: 'y'.repeat(9_000) });
    expect(body?.arguments).to.include({ _truncated: true });
    expect(body?.arguments)
      .to.have.property('preview')
      .that.matches(/^\{"password":"\[REDACTED\]","text":"zzz/);
  });

  it('adapts names to what the service accepts', async () => {
    const NAMES: [given: string, sent: string][] = [
      ['', '(none)'],
      ['a\0\ud800', 'a\ufffd\ufffd'],
      ['😀'.repeat(200), '😀'.repeat(200)],
      [`x${'😀'.repeat(200)}`, `x${'😀'.repeat(199)}`],
    ];
    const { gates, gate } = openGate(mock);
    for (const [given] of NAMES) gate.emit(decision({ tool_name: given }));
    const long = 'y'.repeat(201);
    gate.emit(decision({ agent_name: long, role: long, user_id: long, session_id: long }));
    await gates.shutdown();
    const bodies = bodiesOf(mock, DECISIONS);

    expect(bodies.map(({ tool_name }) => tool_name)).to.have.members([
      ...NAMES.map(([, sent]) => sent),
      'search',
    ]);
    expect(bodies.find(({ tool_name }) => tool_name === 'search')).to.include({
      agent_name: 'y'.repeat(200),
      role: 'y'.repeat(100),
      user_id: 'y'.repeat(200),
      session_id: 'y'.repeat(200),
    });
  });

  it('adapts the names of a model call to what the service accepts', async () => {
    const { gates, gate } = openGate(mock);
    const long = 'é'.repeat(201);
    const names = { agent_name: long, model: long, user_id: long, session_id: long };
    const labels = { provider: long, operation: long, finish_reason: long, error_type: long, role: long };
    gate.emitLlm({ ...usage, ...names, ...labels });
    await gates.shutdown();
    const [body] = bodiesOf(mock, USAGE);

    for (const name of Object.keys(names)) expect(body?.[name]).to.equal('é'.repeat(200));
    for (const name of Object.keys(labels)) expect(body?.[name]).to.equal('é'.repeat(100));
  });

  it('ends for cycles and for lists of 4e9 holes', async () => {
    const { gates, gate } = openGate(mock);
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const sparse: string[] = [];
    sparse.length = 4e9;
    gate.emit(decision({ user_id: cycle as never, violations: sparse }));
    gate.emitLlm({ ...usage, input_tokens: cycle as never });
    await gates.shutdown();

    expect(bodiesOf(mock, DECISIONS)[0]).to.include({ user_id: '{"self":"[Circular]"}' });
    expect(bodiesOf(mock, USAGE)[0]?.input_tokens).to.deep.equal({ self: '[Circular]' });
  });

  it('never throws', async () => {
    const { gates, logger, gate } = openGate(mock);
    const hostile = new Proxy({} as DecisionInput, {
      get: () => {
        throw new Error('no');
      },
    });

    expect(() => gate.emit(hostile)).to.not.throw();
    expect(() =>
      gate.emit(decision({ occurred_at: new Date(NaN), violations: [1] as never })),
    ).to.not.throw();
    expect(() => gate.emit(decision({ reason: 'x'.repeat(2_000_000) }))).to.not.throw();
    await gates.shutdown();

    expect(gate.stats()).to.deep.equal({ sent: 1, failed: 2, dropped: 0, in_flight: 0 });
    expect(logger.at('warn')).to.have.length(2);
  });
});
