import { expect } from 'chai';
import { callMicrosecondsMax, emittersTo } from '../../support/client-process.ts';
import { batchesOf, batchSizes, DECISION_BATCH, startAuditServer } from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('a process that emits in batches', () => {
  const mock = forEachTest(startAuditServer);

  const run = emittersTo(mock);

  /** Every event that arrived, each once. */
  function expectEvents(count: number): void {
    const ids = batchesOf(mock, DECISION_BATCH).flatMap((events) => events.map(({ event_id }) => event_id));
    expect(ids).to.have.length(count);
    expect(new Set(ids)).to.have.property('size', count);
  }

  it('sends what waits when the program ends, without a shutdown', async () => {
    mock.on(DECISION_BATCH, { status: 202, delay_ms: 100 });
    const result = await run('batchedThenEnd');

    expect(result).to.include({ code: 0, stdout: '', stderr: '' });
    expect(result.tookMs).to.be.below(5_000);
    expectEvents(250);
  });

  it('waits for a hung server no longer than one request may take', async () => {
    mock.on(DECISION_BATCH, { fault: 'hang' });
    const { code, stderr, tookMs } = await run('batchedThenEnd');

    expect(code).to.equal(0);
    expect(stderr.match(/Audit endpoint unreachable; events dropped/g)).to.have.length(3);
    expect(tookMs).to.be.below(3_000);
  });

  it('sends what other listeners emit before the end, too', async () => {
    const { code } = await run('batchedThenMoreBeforeExit');

    expect(code).to.equal(0);
    expectEvents(5);
  });

  it('process.exit loses what waits, says so, and is not delayed', async () => {
    mock.on(DECISION_BATCH, { fault: 'hang' });
    const result = await run('batchedThenExit');

    expect(result).to.include({ code: 0, stdout: '' });
    expect(result.stderr).to.match(
      /^The process ended before these audit events were sent.*{ lost: 250 }\n$/,
    );
    expect(result.tookMs).to.be.below(3_000);
  });

  it('sends in time, even if nothing else wakes the loop', async () => {
    const sent = new AbortController();
    const ended = run('batchedThenIdle', {}, sent.signal);
    await mock.arrived(DECISION_BATCH, 1);
    sent.abort();
    await ended;
    const [[event] = []] = batchesOf(mock, DECISION_BATCH);
    const [request] = mock.seen(DECISION_BATCH);

    expect((request?.at ?? 0) - Date.parse(String(event?.occurred_at))).to.be.within(40, 1_000);
  });

  it('each thread has its own batches, which are sent when it ends', async () => {
    await run('batchedInThreads');

    expectEvents(7);
    expect(mock.seen(DECISION_BATCH).length).to.be.within(3, 7);
  });

  it('each process has its own batches', async () => {
    const { code } = await run('batchedInProcesses');

    expect(code).to.equal(0);
    expectEvents(255);
    expect(sum(batchSizes(mock, DECISION_BATCH))).to.equal(255);
  });

  it('memory stays flat while the server hangs', async () => {
    mock.on(DECISION_BATCH, { fault: 'hang' });
    const { reports } = await run('loopInBatches', { NODE_OPTIONS: '--expose-gc' });
    type Report = { p99: number; yard: number; grown: number; stats: { in_flight: number; dropped: number } };
    const { p99, yard, grown, stats } = reports[0] as Report;

    expect(stats.in_flight).to.equal(2_000);
    expect(stats.dropped).to.equal(8_000);
    expect(grown).to.be.below(4 * 1024 * 1024);
    expect(p99).to.be.below(callMicrosecondsMax(yard));
  });
});
