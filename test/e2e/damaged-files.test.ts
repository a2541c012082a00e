import { expect } from 'chai';
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DAY_MS } from '../../server/durations.ts';
import { auditVerify } from '../../server/cli/audit/commands.ts';
import { readSummary, sendDecision, timeFromNow } from '../support/audit.ts';
import { sendBatch } from '../support/batch.ts';
import { eventually } from '../support/eventually.ts';
import { runOnStore } from '../support/engine.ts';
import { decisionEvent } from '../support/events.ts';
import { gate } from '../support/gate.ts';
import { askLog, checkpointFrom } from '../support/log.ts';
import { runGate, runService, runServiceWithoutRoot } from '../support/processes.ts';
import { readMetrics } from '../support/metrics.ts';
import {
  type Demo,
  type RunningService,
  startTestService,
  storeDirectory,
  temporaryDirectory,
} from '../support/service.ts';

const EVENTS = 300;
const FOUND = 'The engine found damaged files in the store';

type Part = { name: string; path: string };

/** Follows the steps of docs/operations.md. */
describe('damaged files of the embedded store', () => {
  const events = Array.from({ length: EVENTS }, (_, at) =>
    decisionEvent({ occurred_at: timeFromNow(-(at % 3) * DAY_MS) }),
  );
  const late = decisionEvent();
  const state = join(temporaryDirectory(), 'state.json');
  const backup = join(temporaryDirectory(), 'backup');
  const visit = ({ project_id, url }: RunningService) => auditVerify(project_id, { url, state });
  let dataDir = '';
  /** A copy of that store before the tests damage it. */
  const whole = temporaryDirectory();
  before(async () => {
    dataDir = await storeDirectory();
    const first = await startTestService({ dataDir });
    await sendBatch(first, events);
    await checkpointFrom(first, EVENTS);
    expect(first.output()).not.to.contain(FOUND);
    await first.stop();
    await gate(dataDir, 'backup', '--to', backup);
    const second = await startTestService({ dataDir });
    await sendDecision(second, late);
    await checkpointFrom(second, EVENTS + 1);
    expect((await visit(second)).exitCode).to.equal(0);
    await second.stop();
    copyStore(dataDir, whole);
  });

  for (const { how, which, harm } of [
    { how: 'the first part without a directory', which: 'min_block_number = 1', harm: remove },
    { how: 'all parts without a directory', which: '1', harm: remove },
    { how: 'all parts cut short', which: '1', harm: cut },
  ])
    it(`do not free the identities of their records: ${how}`, async () => {
      const parts = await partsOf(dataDir, 'event_identities', which);
      expect(parts.length).to.be.above(0);
      for (const part of parts) harm(part);
      const service = await startTestService({ dataDir });

      const answer = await sendBatch(
        service,
        events.map((event) => ({ ...event, outcome: 'deny' })),
      );

      expect(await answer.json()).to.include({ accepted: 0, duplicates: EVENTS });
      expect((await readSummary(service, { window: '7d' })).totals).to.include({
        total: EVENTS + 1,
        deny: 0,
      });
      await service.stop();
    });

  it('are named at the start, and the service continues without signing a log that lacks entries', async () => {
    const parts = [
      ...(await damage('decisions', 'partition_id < toString(toYYYYMMDD(today()))')),
      ...(await damage('log_chunks', 'min_block_number = 1')),
    ];

    const service = await startTestService({ dataDir });

    expect(parts.length).to.equal(3);
    expect(service.output()).to.contain(FOUND);
    for (const { name } of parts) expect(service.output()).to.contain(` broken-on-start_${name}`);
    expect((await readMetrics(service)).value('gate_store_broken_parts')).to.be.at.least(parts.length);
    expect((await sendDecision(service, { ...events[1], outcome: 'deny' })).status).to.equal(202);
    expect((await readSummary(service, { window: '7d' })).totals).to.include({
      total: EVENTS / 3 + 1,
      deny: 0,
    });
    const checkpoint = await askLog(service, 'checkpoint');
    expect([checkpoint.status, await checkpoint.text()].join()).to.match(
      /^503,.*Files of the log are damaged/,
    );
    await service.stop();
  });

  it('are repaired by a backup and an import of the remaining data', async () => {
    const [left, restored] = [join(temporaryDirectory(), 'left'), temporaryDirectory()];
    for (const args of [
      ['export', '--to', left],
      ['backup', '--to', join(temporaryDirectory(), 'damaged')],
    ]) {
      const { code, stderr } = await runGate({ dataDir, args });
      expect(code, stderr).to.equal(0);
      expect(stderr).to.match(/^Files of the store are damaged: .*log_chunks broken-on-start_/m);
    }
    await gate(restored, 'restore', '--from', backup);
    const { imported } = await gate<{ imported: number }>(restored, 'import', '--from', left);

    const service = await startTestService({ dataDir: restored, env: { GATE_DEMO: '0' } });
    const { project_id } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as Demo;
    const { exitCode, data } = await visit({ ...service, project_id });
    expect(imported).to.be.at.least(1);
    expect([exitCode, data['checked'], data['pinned']]).to.deep.equal([
      0,
      EVENTS + 1,
      ['log key', 'history'],
    ]);
    expect(service.output()).not.to.contain(FOUND);
    await service.stop();
  });

  for (const { how, harm, fault } of [
    { how: 'a part has no directory', harm: remove, fault: 'lacks entries of project' },
    { how: 'the bytes of a part are wrong', harm: clear, fault: 'cannot be read' },
  ])
    it(`are noticed in the log when ${how}, so that records do not enter it a second time`, async () => {
      const directory = copyOfWhole();
      const [part] = await partsOf(directory, 'log_chunks', 'min_block_number = 1');
      harm(part as Part);

      const to = join(temporaryDirectory(), 'to');
      const made = await runGate({ dataDir: directory, args: ['backup', '--to', to] });
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stderr).to.match(new RegExp(`^Files of the store are damaged: .*log_chunks ${fault}`, 'm'));
      const service = await startTestService({ dataDir: directory });

      expect(service.output()).to.contain(FOUND).and.to.contain(`log_chunks ${fault}`);
      expect((await readMetrics(service)).value('gate_store_broken_parts')).to.equal(1);
      expect((await askLog(service, 'checkpoint')).status).to.equal(503);
      await service.stop();
    });

  for (const table of ['decisions', 'event_identities'])
    it(`do not prevent the start when bytes of ${table} are wrong`, async () => {
      const directory = copyOfWhole();
      const [part] = await partsOf(directory, table, '1');
      clear(part as Part);

      const service = await startTestService({ dataDir: directory });

      expect(service.output()).to.contain('Files of the store cannot be read');
      expect((await askLog(service, 'checkpoint')).status).to.equal(200);
      await service.stop();
    });

  it('are named by a backup and by its restore when their bytes are wrong', async () => {
    const [directory, restored, to] = [
      await storeDirectory(),
      temporaryDirectory(),
      join(temporaryDirectory(), 'to'),
    ];
    const [part] = await partsOf(directory, 'projects', '1');
    clear(part as Part);

    const made = await runGate({ dataDir: directory, args: ['backup', '--to', to] });
    const used = await runGate({ dataDir: restored, args: ['restore', '--from', to] });

    for (const { code, stderr } of [made, used]) {
      expect(code, stderr).to.equal(0);
      expect(stderr).to.match(/^Files of the store are damaged: projects all_/m);
    }
  });

  it('of tables of the current state prevent the start', async () => {
    const [part] = await damage('api_keys');

    const { code, output } = await runService({ dataDir, env: {} });

    expect(code).to.equal(1);
    expect(output).to.match(
      new RegExp(`^Files of the store are damaged: api_keys broken-on-start_${part?.name}`, 'm'),
    );
  });

  for (const { lost, fault } of [
    { lost: 'store/*/*/api_keys.sql', fault: 'the definition of api_keys' },
    { lost: 'metadata', fault: 'the definitions of all tables' },
    { lost: 'store', fault: 'the (definitions of all tables|data of .*)' },
    { lost: '', fault: 'the data of api_keys' },
  ])
    it(`prevent the start when a table would be empty without them: ${lost || 'the data of a table'}`, async () => {
      const directory = await storeDirectory();
      const engine = join(directory, 'clickhouse');
      const [part] = await partsOf(directory, 'api_keys', '1');
      const paths =
        lost === '' ? [dirname(part?.path.replace(/\/$/, '') ?? '')] : globSync(lost, { cwd: engine });
      for (const path of paths) rmSync(resolve(engine, path), { recursive: true });

      const { code, output } = await runService({ dataDir: directory, env: {} });

      expect(code).to.equal(1);
      expect(output).to.match(new RegExp(`^Files of the store are missing: ${fault}. `, 'm'));
    });

  it('prevent the start and the backup of a copy that has the definitions in place of the link to them', async () => {
    const directory = await storeDirectory();
    const link = join(directory, 'clickhouse', 'metadata', 'default');
    const definitions = realpathSync(link);
    rmSync(link);
    cpSync(definitions, link, { recursive: true });

    const { code, output } = await runService({ dataDir: directory, env: {} });
    const made = await runGate({
      dataDir: directory,
      args: ['backup', '--to', join(temporaryDirectory(), 'to')],
    });

    expect([code, made.code]).to.deep.equal([1, 1]);
    for (const text of [output, made.stderr])
      expect(text).to.match(/^Files of the store are missing: the link metadata\/default\. /m);
  });

  for (const { how, harmList } of [
    { how: 'has wrong bytes', harmList: (path: string) => writeFileSync(path, Buffer.alloc(300)) },
    { how: 'is no list', harmList: (path: string) => writeFileSync(path, 'null') },
    { how: 'is a directory', harmList: (path: string) => (rmSync(path), mkdirSync(path)) },
  ])
    it(`prevent the start when the list of the tables ${how}`, async () => {
      const directory = await storeDirectory();
      harmList(join(directory, 'clickhouse', 'tables.json'));

      const { code, output } = await runService({ dataDir: directory, env: {} });

      expect(code).to.equal(1);
      expect(output).to.match(/^Files of the store are damaged: tables\.json\. /m);
    });

  for (const path of ['store', 'tables.json', 'store/*/*/api_keys.sql', 'data/default/api_keys/*_*_*'])
    it(`are not reported as missing when the user of the service may not use them: ${path}`, async () => {
      const directory = await storeDirectory();
      const [file = ''] = globSync(path, { cwd: join(directory, 'clickhouse') });
      const forbidden = realpathSync(join(directory, 'clickhouse', file));
      chmodSync(forbidden, 0);

      const { code, stderr } = await runServiceWithoutRoot({ dataDir: directory, env: {} });
      chmodSync(forbidden, 0o700);

      expect(code).to.equal(1);
      expect(stderr.trim().split('\n').at(-1)).to.match(
        new RegExp(
          `^${forbidden} cannot be read and written by .*: its owner is ${process.getuid?.()}, and its mode is 0\\. .*chown -R`,
        ),
      );
      expect(stderr).not.to.match(/^\s+at /m);
    });

  it('are no tables that a power cut took during the first start', async () => {
    const directory = await storeDirectory();
    for (const path of globSync(['tables.json', 'store/*/*/api_keys.sql'], {
      cwd: join(directory, 'clickhouse'),
    }))
      rmSync(join(directory, 'clickhouse', path));

    const service = await startTestService({ dataDir: directory });

    expect(await service.stop()).to.equal(0);
  });

  it('are named when the root key is gone, at each start, as a new one refuses all keys', async () => {
    const directory = await storeDirectory();
    rmSync(join(directory, 'signing-key.pem'));

    const service = await startTestService({ dataDir: directory });

    expect(service.output()).to.contain('The root key of this store is missing');
    await service.stop();

    const again = await startTestService({ dataDir: directory });
    await eventually(() =>
      again.output().includes('The root key of this process is not the one of this store'),
    );
    await again.stop();
  });

  function copyOfWhole(): string {
    const directory = temporaryDirectory();
    copyStore(whole, directory);
    return directory;
  }

  function partsOf(directory: string, table: string, which: string): Promise<Part[]> {
    return runOnStore<Part>(
      directory,
      `SELECT name, path FROM system.parts WHERE active AND table = '${table}' AND ${which}`,
    );
  }

  /** Cuts the data of parts of a table short. */
  async function damage(table: string, which = '1'): Promise<Part[]> {
    const parts = await partsOf(dataDir, table, which);
    for (const part of parts) cut(part);
    return parts;
  }
});

/** Keeps the link to the definitions of the tables relative. */
function copyStore(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

function cut({ path }: Part): void {
  const data = join(path, 'data.bin');
  expect(existsSync(data)).to.equal(true);
  truncateSync(data, 10);
}

function clear({ path }: Part): void {
  const data = join(path, 'data.bin');
  writeFileSync(data, Buffer.alloc(statSync(data).size));
}

function remove({ path }: Part): void {
  rmSync(path, { recursive: true });
}
