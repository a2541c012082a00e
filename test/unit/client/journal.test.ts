import { spawnSync } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readlink, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Gates } from '../../../client/audit/gates.ts';
import { Journals } from '../../../client/audit/journal.ts';
import { sleep, type Sleep } from '../../../client/audit/loop.ts';
import type { BatchOptions } from '../../../client/index.ts';
import { EVENT_CHARACTERS_MAX, RESEND_WAIT_MS } from '../../../client/limits.ts';
import { captureLogger, type CaptureLogger } from '../../support/capture-logger.ts';
import {
  acceptAll,
  batchesOf,
  DECISIONS,
  DECISION_BATCH,
  decision,
  gatesWith,
  startAuditServer,
} from '../../support/emission.ts';
import { eventually } from '../../support/eventually.ts';
import { forEachTest } from '../../support/for-each-test.ts';

/** The one retry of a POST is immediate, and nothing else is sent again. */
const holdingUp: Sleep = (ms, signal) => (ms === RESEND_WAIT_MS ? sleep(1e6, signal) : Promise.resolve());

type Start = { batch?: BatchOptions; apiKey?: string; at?: string; wait?: Sleep };

describe('the journal of the MCP gateway', () => {
  const mock = forEachTest(startAuditServer);
  let directory: string;
  let logger: CaptureLogger;
  let opened: Gates[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-journal-'));
    logger = captureLogger();
    opened = [];
  });
  afterEach(async () => {
    for (const gates of opened) await gates.shutdown({ timeoutMs: 0 });
    await rm(directory, { recursive: true, force: true });
  });

  /** Each acts like a separate process. One that is not shut down was killed. */
  const start = ({
    batch = {},
    apiKey = 'k',
    at = directory,
    wait = () => Promise.resolve(),
  }: Start = {}) => {
    const gates = gatesWith({ sleep: wait });
    opened.push(gates);
    const options = { apiKey, baseUrl: mock.url, logger, batch: { maxWaitMs: 60_000, ...batch } };
    const gate = gates.configure(options, new Journals(at, logger));
    const emit = (...reasons: string[]) => reasons.forEach((reason) => gate.emit(decision({ reason })));
    return { gates, gate, emit };
  };
  const stored = () => batchesOf(mock, DECISION_BATCH).map((events) => events.map(({ reason }) => reason));
  const closes = () =>
    mock.requests
      .filter(({ path }) => path.endsWith('/close'))
      .map(({ text }) => JSON.parse(text) as unknown);
  const files = async () => (await readdir(directory)).toSorted();

  it('lets the next start send what a killed process emitted, with its numbers and totals', async () => {
    mock.on(DECISION_BATCH, { fault: 'hang' }, acceptAll);
    start({ batch: { maxPending: 3 } }).emit('1', '\u2028', '3', 'dropped');
    await mock.arrived(DECISION_BATCH, 1);
    await start().gates.shutdown();

    expect(stored().at(-1)).to.deep.equal(['1', '\u2028', '3']);
    const request = mock.seen(DECISION_BATCH).at(-1);
    expect(request?.headers).to.include({ 'gate-sequence': '1-3', 'gate-dropped': '0' });
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 4, dropped: 1, failed: 0 }]);
    expect(mock.requests.at(-1)?.path).to.include(String(request?.headers['gate-emitter']));
    expect(await files()).to.deep.equal([]);
  });

  it('leaves no files after a shutdown', async () => {
    const { gates, emit } = start();
    emit('1', '2');
    expect(await files()).to.have.length(1);
    await gates.shutdown();
    await start().gates.shutdown();

    expect(await files()).to.deep.equal([]);
    expect(stored()).to.deep.equal([['1', '2']]);
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 2, dropped: 0, failed: 0 }]);
  });

  it('begins a new file after 1 MiB, and removes the old one once its events are settled', async () => {
    const { gates, gate } = start();
    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      for (let i = 0; i < 150; i += 1) gate.emit(decision({ reason: 'r'.repeat(4_000) }));
      await gates.flush();
      counts.push((await files()).length);
    }

    expect(counts).to.deep.equal([1, 1, 1, 1, 1]);
    const [name = ''] = await files();
    expect(Number(name.split('-').at(-1))).to.be.within(600, 750);
  });

  it('keeps each file while an event of it waits; the next start sends what is in all of them', async () => {
    const { gates, gate } = start();
    const numbered = (index: number) => decision({ reason: `${index} ${'r'.repeat(3_990)}` });
    for (let index = 0; index < 100; index += 1) gate.emit(numbered(index));
    await gates.flush();
    mock.on(DECISION_BATCH, { fault: 'hang' });
    for (let index = 100; index < 1_100; index += 1) gate.emit(numbered(index));
    await mock.arrived(DECISION_BATCH, 11);
    const accepted: number[] = [];
    mock.on(DECISION_BATCH, (request) => {
      const reasons = request.text.split('\n').map((line) => (JSON.parse(line) as { reason: string }).reason);
      accepted.push(...reasons.map((reason) => Number(reason.split(' ')[0])));
      return acceptAll(request);
    });

    expect(await files()).to.have.length(5);
    await start().gates.shutdown();

    expect(accepted.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 1_100 }, (_, index) => index));
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 1_100, dropped: 0, failed: 0 }]);
    expect(await files()).to.deep.equal([]);
  });

  it('keeps what the service does not take for the next start', async () => {
    start().emit('1');
    mock.on(DECISION_BATCH, { fault: 'reset' });
    await start().gates.shutdown();
    expect(closes()).to.deep.equal([]);
    expect(await files()).to.have.length(1);
    mock.on(DECISION_BATCH, acceptAll);
    await start().gates.shutdown();

    expect(stored().at(-1)).to.deep.equal(['1']);
    expect(closes()).to.have.length(1);
    expect(await files()).to.deep.equal([]);
  });

  it('removes what the service rejects, and reports it as failed', async () => {
    start().emit('1', '2', '3');
    mock.on(DECISION_BATCH, {
      status: 207,
      json: { accepted: 2, duplicates: 0, rejected: [{ index: 1, code: 'body_invalid' }] },
    });
    await start().gates.shutdown();

    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 3, dropped: 0, failed: 1 }]);
    expect(await files()).to.deep.equal([]);
  });

  for (const [status, kept] of [
    [400, 0],
    [413, 0],
    [422, 0],
    [401, 1],
    [403, 1],
    [404, 1],
    [502, 1],
    [503, 1],
  ] as const) {
    const does = kept === 0 ? 'removes' : 'keeps';

    it(`${does} what the service answers with ${status}`, async () => {
      start().emit('1');
      mock.on(DECISION_BATCH, { status, json: {} });
      mock.on(DECISIONS, { status, json: {} });
      await start().gates.shutdown();

      expect(await files()).to.have.length(kept);
    });

    const alsoSends = kept === 0 ? 'removes' : 'sends again';
    it(`${alsoSends} what the service answers with ${status} before a shutdown`, async () => {
      mock.on(DECISION_BATCH, { status, json: {} });
      mock.on(DECISIONS, { status, json: {} });
      const { gates, gate, emit } = start({ wait: holdingUp });
      emit('1', '2');
      await gates.flush();
      mock.on(DECISION_BATCH, acceptAll);
      mock.on(DECISIONS, { status: 202, json: {} });
      emit('3');
      await gates.shutdown();

      expect(await files()).to.deep.equal([]);
      const failed = kept === 0 ? 2 : 0;
      expect(gate.stats()).to.deep.equal({ sent: 3 - failed, failed, dropped: 0, in_flight: 0 });
      expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 3, dropped: 0, failed }]);
    });
  }

  it('keeps every file of an outage, with one of them open, and the next start sends all of them', async () => {
    mock.on(DECISION_BATCH, { fault: 'reset' });
    const { gates, gate } = start({ wait: holdingUp });
    const numbered = (index: number) => decision({ reason: `${index} ${'r'.repeat(3_990)}` });
    for (let index = 0; index < 700; index += 1) gate.emit(numbered(index));
    await gates.flush();
    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 0, in_flight: 700 });
    const opened = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    expect(opened.filter((path) => path.startsWith(directory))).to.have.length(1);
    expect(await files()).to.have.length(3);
    mock.on(DECISION_BATCH, acceptAll);
    const before = stored().length;
    await start().gates.shutdown();

    const reasons = stored().slice(before).flat();
    const numbers = reasons.map((reason) => Number(String(reason).split(' ')[0]));
    expect(numbers.toSorted((a, b) => a - b)).to.deep.equal(Array.from({ length: 700 }, (_, index) => index));
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 700, dropped: 0, failed: 0 }]);
    expect(await files()).to.deep.equal([]);
  });

  it('sends unaccepted events again after increasing delays, and warns once', async () => {
    const waits: number[] = [];
    const { gates, gate, emit } = start({
      wait: async (ms) => {
        waits.push(ms);
        if (waits.length === 9) mock.on(DECISION_BATCH, acceptAll);
      },
    });
    mock.on(DECISION_BATCH, { fault: 'reset' });
    emit('1', '2');
    await gates.flush();
    emit('3');
    await eventually(() => gate.stats().sent === 3);

    expect(waits.map((ms) => ms / 1_000)).to.deep.equal([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(stored().at(-1)).to.deep.equal(['1', '2', '3']);
    expect(gate.stats()).to.deep.equal({ sent: 3, failed: 0, dropped: 0, in_flight: 0 });
    expect(logger.at('warn')).to.deep.equal(['Audit endpoint unreachable; events are kept and sent again']);
    await gates.shutdown();
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 3, dropped: 0, failed: 0 }]);
    expect(await files()).to.deep.equal([]);
  });

  it('keeps sending the events that an earlier process left', async () => {
    start().emit('1');
    mock.on(DECISION_BATCH, { status: 503 }, { fault: 'reset' }, { fault: 'reset' }, acceptAll);
    start();
    await eventually(() => closes().length > 0);

    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 1, dropped: 0, failed: 0 }]);
    expect(stored()).to.have.length(4);
    await eventually(async () => (await files()).length === 0);
  });

  it('drops new events in an outage when enough are waiting, and keeps no more files', async () => {
    mock.on(DECISION_BATCH, { fault: 'reset' });
    const { gates, gate } = start({ batch: { maxPending: 300 }, wait: holdingUp });
    const emitMany = (): void => {
      for (let i = 0; i < 1_000; i += 1) gate.emit(decision({ reason: 'r'.repeat(4_000) }));
    };
    emitMany();
    await gates.flush();
    emitMany();

    expect(gate.stats()).to.deep.equal({ sent: 0, failed: 0, dropped: 1_700, in_flight: 300 });
    expect(await files()).to.have.length(2);
    mock.on(DECISION_BATCH, acceptAll);
    await gates.shutdown();
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 2_000, dropped: 1_700, failed: 0 }]);
    expect(await files()).to.deep.equal([]);
  });

  it('reports at its end that events are kept', async () => {
    mock.on(DECISION_BATCH, { status: 503 });
    const { gates, emit } = start({ wait: holdingUp });
    emit('1', '2');
    await gates.shutdown();

    expect(logger.at('warn')).to.deep.equal([
      'Audit ingest still unavailable (503) after one retry; events are kept and sent again',
      'Audit events were still waiting at shutdown; events kept for the next start',
    ]);
  });

  it('reports what was rejected before the kill and what could not be built, and not what arrives after it', async () => {
    mock.on(DECISION_BATCH, {
      status: 207,
      json: { accepted: 1, duplicates: 0, rejected: [{ index: 1, code: 'body_invalid' }] },
    });
    const { gates, gate, emit } = start();
    emit('1', '2');
    await gates.flush();
    mock.on(DECISION_BATCH, { status: 503 });
    gate.emit(decision({ reason: 'r'.repeat(EVENT_CHARACTERS_MAX) }));
    emit('4');
    await gates.flush();
    emit('5');
    mock.on(DECISION_BATCH, {
      status: 207,
      json: { accepted: 3, duplicates: 1, rejected: [{ index: 1, code: 'body_invalid' }] },
    });
    await start().gates.shutdown();

    expect(stored().at(-1)).to.deep.equal(['1', '2', '4', '5']);
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 5, dropped: 0, failed: 2 }]);
  });

  it('leaves out a line that was cut short', async () => {
    start().emit('1');
    await appendFile(join(directory, (await files())[0] ?? ''), '2 0 0 {"event_id":');
    await start().gates.shutdown();

    expect(stored()).to.deep.equal([['1']]);
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 1, dropped: 0, failed: 0 }]);
  });

  it('leaves alone the events of another key and of a running process', async () => {
    start({ apiKey: 'other' }).emit('other');
    const [ofOther = ''] = await files();
    await start().gates.shutdown();
    start().emit('running');
    const [mine = ''] = (await files()).filter((name) => name !== ofOther);
    const ofParent = mine.replace(`-${process.pid}-`, `-${process.ppid}-`);
    await rename(join(directory, mine), join(directory, ofParent));
    await start().gates.shutdown();
    expect(stored()).to.deep.equal([]);
    const { pid } = spawnSync('true');
    await rename(join(directory, ofParent), join(directory, mine.replace(`-${process.pid}-`, `-${pid}-`)));
    await start().gates.shutdown();

    expect(stored()).to.deep.equal([['running']]);
    expect(await files()).to.deep.equal([ofOther]);
  });

  it('removes events that are too old for any service', async () => {
    start({ apiKey: 'other' }).emit('1');
    const old = Date.now() / 1000 - 91 * 24 * 3_600;
    await utimes(join(directory, (await files())[0] ?? ''), old, old);
    await start().gates.shutdown();

    expect(await files()).to.deep.equal([]);
  });

  it('warns once and continues when the directory cannot be used', async () => {
    const { gates, emit } = start({ at: '/dev/null' });
    emit('1', '2');
    await gates.shutdown();

    expect(stored()).to.deep.equal([['1', '2']]);
    expect(logger.at('warn')).to.deep.equal([
      'The journal of audit events cannot be written; a kill of the process loses what waits',
    ]);
  });

  it('reports events that do not arrive as failed when the directory cannot be used', async () => {
    mock.on(DECISION_BATCH, { status: 503 });
    const { gates, emit } = start({ at: '/dev/null' });
    emit('1');
    await gates.shutdown();

    expect(logger.at('warn').at(-1)).to.include('event dropped');
    expect(closes()).to.deep.equal([{ stream: 'decisions', emitted: 1, dropped: 0, failed: 1 }]);
  });
});
