import { expect } from 'chai';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tally, sendDecision, sendLlm } from '../support/audit.ts';
import { decisionEvent, llmInvocation } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { runOnStore } from '../support/engine.ts';
import { gate } from '../support/gate.ts';
import { readMetrics } from '../support/metrics.ts';
import {
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';
import { tamper } from '../tamper/service.ts';

const STREAMS = ['decisions', 'llm_invocations'];
const FILES = STREAMS.map((stream) => `handover-identities-${stream}`);
const BEHIND = FILES.map((name) => `${name}.behind`);
const USED = 'The identity filter of the last run is used';
const FILLED = 'The identity filter is filled';
const WITH_LATER = `${USED}, with what came since`;

function leftIn(dataDir: string): string[] {
  return readdirSync(dataDir).filter((name) => name.startsWith('handover-'));
}

/** How each stream got its filter, according to the log, once both have one. */
async function filtersOf(service: TestService): Promise<Record<string, string>> {
  await eventually(async () => {
    const metrics = await readMetrics(service);
    const values = STREAMS.map((stream) =>
      metrics.value(`gate_identity_filter_complete{stream="${stream}"}`),
    );
    return values.every((value) => value === 1);
  });
  const ready = await fetch(`${service.url}/readyz`);
  expect(await ready.json()).to.deep.equal({ status: 'ready', identity_filter: 'complete' });
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.includes('identity filter'))
    .map((line) => JSON.parse(line) as { stream: string; msg: string; reason?: string });
  return Object.fromEntries(lines.map(({ stream, msg }) => [stream, msg]));
}

const bothAre = (message: string) => Object.fromEntries(STREAMS.map((stream) => [stream, message]));

describe('the identity filter across a restart', () => {
  let dataDir: string;
  let events: Record<string, unknown>[];
  const reports = [llmInvocation()];
  const exported = join(temporaryDirectory(), 'export');
  before(async () => {
    dataDir = await storeDirectory();
    events = [decisionEvent()];
  });

  /** Posts everything from before again, and one new event. Resolves with the number of stored decisions. */
  async function postAll(service: TestService): Promise<number> {
    events.push(decisionEvent());
    const answers = await Promise.all([
      ...events.map((event) => sendDecision(service, event)),
      ...reports.map((report) => sendLlm(service, report)),
    ]);
    expect(tally(answers)).to.deep.equal({ '202': events.length + reports.length });
    const metrics = await readMetrics(service);
    return metrics.value('gate_ingest_decisions_total{result="accepted"}');
  }

  const start = () => startTestService({ dataDir, env: { GATE_LOG_LEVEL: 'info' } });

  /** Starts a service, which must use the filter with later identities, and know everything from before. */
  async function startWithLater(): Promise<TestService> {
    const service = await start();
    expect(await filtersOf(service)).to.deep.equal(bothAre(FILLED));
    expect(service.output().split(WITH_LATER)).to.have.length(3);
    expect(await postAll(service)).to.equal(1);
    return service;
  }

  it('is kept by a clean stop, and used unchanged once', async () => {
    const first = await start();
    await filtersOf(first);
    expect(await postAll(first)).to.equal(2);
    expect(await first.stop()).to.equal(0);
    expect(leftIn(dataDir)).to.have.members(FILES);

    const second = await start();
    expect(await filtersOf(second)).to.deep.equal(bothAre(USED));
    expect(leftIn(dataDir)).to.have.members(BEHIND);
    expect(await postAll(second)).to.equal(1);
    await second.kill();
  });

  it('is used after each kill -9, with later identities', async () => {
    await (await startWithLater()).kill();
    await (await startWithLater()).stop();
  });

  it('is used after a command, as after a kill', async () => {
    await gate(dataDir, 'export', '--to', exported);
    expect(leftIn(dataDir)).to.have.members(BEHIND);

    await (await startWithLater()).stop();
  });

  it('is removed by an import, whose records were received long ago, before it writes, even if it then fails', async () => {
    for (const name of readdirSync(exported)) {
      const path = join(exported, name);
      if (name !== 'manifest.json') writeFileSync(path, Buffer.alloc(statSync(path).size));
    }
    const outcome = await gate(dataDir, 'import', '--from', exported).catch((error: Error) => error);
    expect(outcome).to.be.instanceOf(Error);
    expect(leftIn(dataDir)).to.deep.equal([]);

    const service = await start();
    expect(await filtersOf(service)).to.deep.equal(bothAre(FILLED));
    expect(service.output()).not.to.contain(USED);
    expect(await postAll(service)).to.equal(1);
    await service.stop();
  });

  it('is not used after a program that knows nothing of it wrote an event', async () => {
    const foreign = decisionEvent();
    await runOnStore(
      dataDir,
      `INSERT INTO decisions (project_id, event_id, occurred_at, received_at, outcome, version)
       SELECT project_id, '${String(foreign['event_id'])}', occurred_at, now64(3), outcome, 1 FROM decisions LIMIT 1`,
    );
    events.push(foreign);
    expect(leftIn(dataDir)).to.have.length(2);

    const service = await start();
    expect(await filtersOf(service)).to.deep.equal(bothAre(FILLED));
    expect(service.output()).to.contain('the store was written to since');
    expect(await postAll(service)).to.equal(1);
    // It is filled and saved again while the service runs.
    await eventually(() => BEHIND.every((name) => leftIn(dataDir).includes(name)));
    await service.kill();
    await (await startWithLater()).stop();
  });

  it('is used after merges by another program, which write no event', async () => {
    const tables = ['decisions', 'event_identities'];
    await tamper(
      dataDir,
      tables.map((table) => `OPTIMIZE TABLE ${table} FINAL`),
    );
    const service = await start();

    expect(await filtersOf(service)).to.deep.equal(bothAre(USED));
    expect(await postAll(service)).to.equal(1);
    await service.stop();
  });

  it('that cannot be saved delays no stop, and the next start uses the previous one', async () => {
    mkdirSync(join(dataDir, 'handover-identities-decisions.behind.tmp'));
    const service = await start();
    await filtersOf(service);

    expect(await service.stop()).to.equal(0);
    expect(leftIn(dataDir)).to.have.members([BEHIND[0], `${BEHIND[0]}.tmp`, BEHIND[1]]);
    expect(service.output()).to.contain('The identity filter was not saved; the next start');
    await (await startWithLater()).stop();
  });
});
