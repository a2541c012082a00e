import { expect } from 'chai';
import { Emitter, rangesOf } from '../../../client/audit/emitter.ts';
import {
  acceptAll,
  DECISION_BATCH,
  DECISIONS,
  USAGE,
  decision,
  openGate,
  startAuditServer,
  usage,
} from '../../support/emission.ts';
import { forEachTest } from '../../support/for-each-test.ts';
import type { MockServer, SeenRequest } from '../../support/mock-server.ts';

type LedgerHeaders = { emitter: string; sequence: string; dropped: string };

function headersOf({ headers }: SeenRequest): LedgerHeaders {
  const text = (name: string) => String(headers[name]);
  return { emitter: text('gate-emitter'), sequence: text('gate-sequence'), dropped: text('gate-dropped') };
}

function closesOf(mock: MockServer): { emitter: string; totals: unknown }[] {
  return mock.requests.flatMap(({ path, text }) => {
    const [, emitter] = /^\/v1\/audit\/emitters\/([^/]+)\/close$/.exec(path) ?? [];
    return emitter === undefined ? [] : [{ emitter, totals: JSON.parse(text) as unknown }];
  });
}

describe('what the client reports about events that do not arrive', () => {
  const mock = forEachTest(startAuditServer);
  const world = (options: object = {}, deps = {}) => openGate(mock, options, deps);

  it('numbers the events of each sender from 1, including dropped ones', async () => {
    const { gates, gate } = world();
    for (let i = 0; i < 35; i += 1) gate.emit(decision());
    gate.emitLlm(usage);
    await gates.flush();
    gate.emit(decision());
    await gates.flush();

    const decisions = mock.seen(DECISIONS).map(headersOf);
    const numbers = decisions.map(({ sequence }) => Number(sequence)).sort((a, b) => a - b);
    expect(numbers).to.deep.equal([...Array.from({ length: 32 }, (_, index) => index + 1), 36]);
    expect(decisions.map(({ dropped }) => dropped)).to.deep.equal([...Array(32).fill('0'), '3']);
    const [first] = decisions;
    expect(new Set(decisions.map(({ emitter }) => emitter))).to.deep.equal(new Set([first?.emitter]));
    const [used] = mock.seen(USAGE).map(headersOf);
    expect(used).to.include({ sequence: '1', dropped: '0' });
    expect(used?.emitter)
      .to.match(/^[0-9a-f-]{36}$/)
      .and.not.equal(first?.emitter);
  });

  it('sends the same number with a retry', async () => {
    mock.on(DECISIONS, { status: 503 }, { status: 202 });
    const { gates, gate } = world({}, { sleep: () => Promise.resolve() });
    gate.emit(decision());
    await gates.flush();

    const [first, second] = mock.seen(DECISIONS).map(headersOf);
    expect(second).to.deep.equal(first).and.include({ sequence: '1' });
  });

  it('gives the numbers of a batch as ranges, and the drops below its last', async () => {
    const { gates, gate } = world({ batch: { maxEvents: 4, maxPending: 5 } });
    for (let i = 0; i < 7; i += 1) gate.emit(decision());
    await gates.flush();
    gate.emit(decision({ reason: 'after' }));
    await gates.flush();

    const batches = mock.seen(DECISION_BATCH).map(headersOf);
    expect(batches.map(({ sequence, dropped }) => [sequence, dropped])).to.deep.equal([
      ['1-4', '0'],
      ['5', '0'],
      ['8', '2'],
    ]);
  });

  it('ends a batch before its header is too long for a proxy', async () => {
    const { gates, gate } = world({ batch: { maxEvents: 1000 } });
    const unbuildable = { ...decision(), get reason(): string { throw new Error('unreadable'); } }; // prettier-ignore
    for (let i = 0; i < 600; i += 1) gate.emit(i % 2 === 0 ? decision() : unbuildable);
    await gates.flush();

    const lists = mock.seen(DECISION_BATCH).map((request) => headersOf(request).sequence.split(','));
    expect(lists.map(({ length }) => length)).to.deep.equal([200, 100]);
  });

  it('keeps the numbers of events that are sent again one by one', async () => {
    mock.on(DECISION_BATCH, { status: 404 });
    const { gates, gate } = world({ batch: { maxPending: 3 } });
    for (let i = 0; i < 4; i += 1) gate.emit(decision());
    await gates.flush();
    gate.emit(decision());
    await gates.flush();

    const singles = mock.seen(DECISIONS).map(headersOf);
    const pairs = singles.map(({ sequence, dropped }) => [sequence, dropped]);
    expect(pairs).to.have.deep.members([
      ['1', '0'],
      ['2', '0'],
      ['3', '0'],
      ['5', '1'],
    ]);
  });

  it('keeps the numbers of a batch that is halved', async () => {
    mock.on(DECISION_BATCH, { status: 413 }, acceptAll);
    const { gates, gate } = world({ batch: true });
    for (let i = 0; i < 4; i += 1) gate.emit(decision({ reason: String(i) }));
    await gates.flush();

    expect(mock.seen(DECISION_BATCH).map((request) => headersOf(request).sequence)).to.deep.equal([
      '1-4',
      '1-2',
      '3-4',
    ]);
  });

  it('reports at shutdown what was emitted, dropped and failed, once for each sender that emitted', async () => {
    mock.on(DECISIONS, { status: 422 });
    const { gates, gate } = world();
    for (let i = 0; i < 33; i += 1) gate.emit(decision());
    await Promise.all([gates.shutdown(), gates.shutdown()]);
    await gates.shutdown();

    const [emitter] = mock.seen(DECISIONS).map((request) => headersOf(request).emitter);
    const totals = { stream: 'decisions', emitted: 33, dropped: 1, failed: 32 };
    expect(closesOf(mock)).to.deep.equal([{ emitter, totals }]);
    const close = mock.requests.find(({ path }) => path.endsWith('/close'));
    expect(close?.headers['authorization']).to.equal('Bearer k');
  });

  it('does not report beyond the time of shutdown', async () => {
    mock.on(DECISIONS, { fault: 'hang' });
    const { gates, gate } = world();
    gate.emit(decision());
    const startedAtMs = Date.now();
    await gates.shutdown({ timeoutMs: 50 });

    expect(Date.now() - startedAtMs).to.be.below(1_000);
    expect(closesOf(mock)).to.deep.equal([]);
  });

  it('becomes another emitter after shutdown, and on another event loop', async () => {
    let identity = 'one';
    const createLoop = () => ({ identity: () => identity, isRunning: () => true });
    const { gates, gate } = world({}, { createLoop });
    gate.emit(decision());
    await gates.flush();
    identity = 'two';
    gate.emit(decision());
    await gates.shutdown();
    gates.configure({ apiKey: 'k', baseUrl: mock.url }).emit(decision());
    await gates.flush();

    const seen = mock.seen(DECISIONS).map(headersOf);
    expect(seen.map(({ sequence }) => sequence)).to.deep.equal(['1', '1', '1']);
    expect(new Set(seen.map(({ emitter }) => emitter)).size).to.equal(3);
    expect(closesOf(mock).map(({ totals }) => totals)).to.deep.equal([
      { stream: 'decisions', emitted: 1, dropped: 0, failed: 0 },
    ]);
  });

  it('counts the drops and failures of an emitter from its own beginning', () => {
    let tally = { dropped: 5, failed: 2 };
    const emitter = new Emitter(() => tally);
    tally = { dropped: 8, failed: 6 };

    expect(emitter.next()).to.deep.equal({ sequence: 1, dropped: 3 });
    expect(emitter.totals()).to.deep.equal({ emitted: 1, dropped: 3, failed: 4 });
  });

  it('writes ranges in the order of the events', () => {
    const text = (...numbers: number[]) => rangesOf(numbers.map((sequence) => ({ sequence })));

    expect(text(5, 6, 7, 9, 11, 12)).to.equal('5-7,9,11-12');
    expect(text(2, 1, 3)).to.equal('2,1,3');
    expect(text(7)).to.equal('7');
  });
});
