import { expect } from 'chai';
import type { GatesDeps } from '../../../client/audit/gates.ts';
import type { ConfigureOptions } from '../../../client/index.ts';
import {
  acceptAll,
  batchesOf,
  batchSizes,
  bodiesOf,
  DECISION_BATCH,
  DECISIONS,
  decision,
  openGate,
  startAuditServer,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';

describe('client batches: what the service answers', () => {
  const mock = forEachTest(startAuditServer);

  /** Emits this many events and waits until they are settled. */
  async function emitAll(count: number, options: ConfigureOptions = {}, deps: Partial<GatesDeps> = {}) {
    const { gates, logger, gate } = openGate(mock, { batch: true, ...options }, deps);
    for (let i = 0; i < count; i += 1) gate.emit(decision({ reason: String(i) }));
    await gates.flush();
    const stats = gate.stats();
    await gates.shutdown();
    return { stats, logger };
  }

  const stats = (sent: number, failed: number) => ({ sent, failed, dropped: 0, in_flight: 0 });

  describe('207', () => {
    const rejected = [
      { index: 0, event_id: null, status: 422, code: 'body_invalid', detail: '/outcome: unknown' },
      { index: 3, event_id: 'e', status: 413, code: 'arguments_too_large', detail: 'too large' },
      { index: 4, event_id: 'f', status: 422, code: 'body_invalid', detail: '/role: too long' },
    ];

    it('rejected events count as failed, with their codes in one warning', async () => {
      mock.on(DECISION_BATCH, { status: 207, json: { accepted: 6, duplicates: 1, rejected } });
      const { stats: counted, logger } = await emitAll(10);

      expect(counted).to.deep.equal(stats(7, 3));
      expect(logger.lines).to.deep.equal([
        {
          level: 'warn',
          message: 'Audit ingest rejected events: body_invalid, arguments_too_large',
          context: {
            path: '/v1/audit/decisions',
            problem: 'body_invalid: /outcome: unknown',
            rejected: 3,
            events: 10,
          },
        },
      ]);
    });

    it('a long list is read in full', async () => {
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        index,
        code: 'body_invalid',
        detail: 'x'.repeat(300),
      }));
      mock.on(DECISION_BATCH, { status: 207, json: { accepted: 0, duplicates: 0, rejected: many } });

      expect((await emitAll(1_000, { batch: { maxEvents: 1_000 } })).stats).to.deep.equal(stats(0, 1_000));
    });

    it('a list that cannot be read counts no event as sent', async () => {
      mock.on(DECISION_BATCH, { status: 207, fault: 'torn_json' });
      const { stats: counted, logger } = await emitAll(4);

      expect(counted).to.deep.equal(stats(0, 4));
      expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; events dropped']);
    });

    it('a list with more entries than events does no harm', async () => {
      mock.on(DECISION_BATCH, { status: 207, json: { rejected: [1, null, ...rejected] } });

      expect((await emitAll(2)).stats).to.deep.equal(stats(0, 2));
    });
  });

  it('a 202 with a broken body counts as sent', async () => {
    mock.on(DECISION_BATCH, { fault: 'torn_json', status: 202 });

    expect((await emitAll(3)).stats).to.deep.equal(stats(3, 0));
  });

  for (const status of [404, 405]) {
    it(`${status}: a service without the call gets single POSTs from then on, the refused events included`, async () => {
      mock.on(DECISION_BATCH, { status });
      const { stats: counted, logger } = await emitAll(75, { batch: { maxEvents: 5, maxPending: 75 } });
      const sent = bodiesOf(mock, DECISIONS).map(({ reason }) => Number(reason));

      expect(counted).to.deep.equal(stats(75, 0));
      expect(sent.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 75 }, (_, i) => i));
      expect(mock.seen(DECISIONS)[0]?.headers['content-type']).to.equal('application/json');
      expect(mock.seen(DECISION_BATCH).length).to.be.within(1, 15);
      expect(mock.connections()).to.be.at.most(32);
      expect(logger.at('warn')).to.deep.equal(['The service takes no batches; each event is sent by itself']);
    });
  }

  it('a 404 of a single POST is an error like any other', async () => {
    mock.on(DECISION_BATCH, { status: 404 });
    mock.on(DECISIONS, { status: 404 });
    const { stats: counted, logger } = await emitAll(2);

    expect(counted).to.deep.equal(stats(0, 2));
    expect(logger.at('warn').slice(1)).to.deep.equal(Array(2).fill('Audit ingest error 404'));
  });

  describe('413', () => {
    it('a batch that is too large is sent in smaller ones, and so are those that follow', async () => {
      const bytesMax = 1_000;
      mock.on(DECISION_BATCH, (request) =>
        request.text.length > bytesMax ? { status: 413, text: 'of a proxy' } : acceptAll(request),
      );
      const { stats: counted, logger } = await emitAll(20, { batch: { maxEvents: 10 } });
      const taken = mock.seen(DECISION_BATCH).filter(({ text }) => text.length <= bytesMax);
      const lines = taken.flatMap(({ text }) => text.split('\n'));
      const sent = lines.map((line) => Number((JSON.parse(line) as { reason: string }).reason));

      expect(counted).to.deep.equal(stats(20, 0));
      expect(sent.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, i) => i));
      expect(logger.lines).to.deep.equal([]);
    });

    it('its events do not wait again', async () => {
      mock.on(DECISION_BATCH, { status: 413 }, acceptAll);
      const { gates, gate } = openGate(mock, { batch: { maxEvents: 3, maxWaitMs: 60_000 } });
      gate.emit(decision({ reason: 'x'.repeat(3_000) }));
      gate.emit(decision());
      gate.emit(decision());
      await mock.arrived(DECISION_BATCH, 3);

      expect(batchSizes(mock, DECISION_BATCH)).to.deep.equal([3, 1, 2]);
      await gates.shutdown();
    });

    it('one event that is too large fails', async () => {
      mock.on(DECISION_BATCH, { status: 413, json: { code: 'batch_too_large' } });
      const { stats: counted, logger } = await emitAll(4);

      expect(counted).to.deep.equal(stats(0, 4));
      expect(batchSizes(mock, DECISION_BATCH).filter((size) => size === 1)).to.have.length(4);
      expect(logger.at('warn')).to.deep.equal(Array(4).fill('Audit ingest error 413'));
    });
  });

  describe('503', () => {
    it('the batch is sent once more, as it was', async () => {
      mock.on(DECISION_BATCH, { status: 503, headers: { 'Retry-After': '60' } }, acceptAll);
      const waits: number[] = [];
      const { stats: counted } = await emitAll(3, {}, { sleep: async (ms) => void waits.push(ms) });
      const [first, second] = mock.seen(DECISION_BATCH);

      expect(waits).to.deep.equal([2_000]);
      expect(second?.text).to.equal(first?.text);
      expect(counted).to.deep.equal(stats(3, 0));
    });

    it('then its events are logged and dropped', async () => {
      mock.on(DECISION_BATCH, { status: 503 });
      const { stats: counted, logger } = await emitAll(3, {}, { sleep: () => Promise.resolve() });

      expect(mock.seen(DECISION_BATCH)).to.have.length(2);
      expect(counted).to.deep.equal(stats(0, 3));
      expect(logger.at('warn')).to.deep.equal([
        'Audit ingest still unavailable (503) after one retry; events dropped',
      ]);
    });

    it('keeps its place in flight while it waits for its retry', async () => {
      mock.on(DECISION_BATCH, { status: 503 });
      const waiting = Promise.withResolvers<void>();
      const go = Promise.withResolvers<void>();
      const sleep = () => (waiting.resolve(), go.promise);
      const { gates, gate } = openGate(mock, { batch: { maxEvents: 2 } }, { sleep });
      gate.emit(decision());
      gate.emit(decision());
      await waiting.promise;

      expect(gate.stats().in_flight).to.equal(2);
      go.resolve();
      await gates.shutdown();
      expect(batchesOf(mock, DECISION_BATCH)).to.have.length(2);
    });
  });

  for (const status of [302, 400, 401, 422, 429, 500, 502]) {
    it(`${status} is logged once for the batch and not retried`, async () => {
      mock.on(DECISION_BATCH, { status, json: { code: 'some_code', detail: 'what is wrong' } });
      const { stats: counted, logger } = await emitAll(3);
      const context = { path: '/v1/audit/decisions', problem: 'some_code: what is wrong', events: 3 };

      expect(mock.seen(DECISION_BATCH)).to.have.length(1);
      expect(counted).to.deep.equal(stats(0, 3));
      expect(logger.lines).to.deep.equal([
        { level: 'warn', message: `Audit ingest error ${status}`, context },
      ]);
    });
  }

  for (const fault of ['hang', 'reset', 'reset_mid_body', 'slow_body'] as const) {
    it(`${fault} is logged once for the batch and not retried`, async () => {
      mock.on(DECISION_BATCH, { fault, status: 202 });
      const { stats: counted, logger } = await emitAll(3, { timeoutMs: 60 });

      expect(mock.seen(DECISION_BATCH)).to.have.length(1);
      expect(counted).to.deep.equal(stats(0, 3));
      expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; events dropped']);
    });
  }

  it('a service that comes back gets what still waits', async () => {
    mock.on(DECISION_BATCH, ...Array.from({ length: 32 }, () => ({ fault: 'reset' as const })), acceptAll);
    const { stats: counted } = await emitAll(50, { batch: { maxEvents: 1 } });

    expect(counted).to.deep.equal(stats(18, 32));
  });
});
