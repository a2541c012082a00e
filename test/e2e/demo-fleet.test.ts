import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { call, jsonOf, demoCookie } from '../support/accounts.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { readDecisions, sendDecision } from '../support/audit.ts';
import { batchOutcome, sendBatch } from '../support/batch.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom } from '../support/log.ts';
import { issue } from '../support/keys.ts';
import { readMetrics } from '../support/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { runOnStore } from '../support/engine.ts';
import { askJson } from '../support/reads.ts';
import {
  environmentOf,
  spawnService,
  startTestService,
  storeDirectory,
  temporaryDirectory,
  type TestService,
} from '../support/service.ts';

const env = { GATE_DEMO: '1' };
const FILLED = 'The demo fleet is filled';

const totalOf = async (service: TestService, endpoint: 'summary' | 'llm-usage', projectId: string) => {
  const { totals } = await askJson<{ totals: { total?: number; calls?: number } }>(service, endpoint, {
    projectId,
    query: { window: '7d' },
  });
  return totals.total ?? totals.calls ?? 0;
};

describe('the demo fleet of a service started with GATE_DEMO=1', () => {
  let service: TestService;
  let firstEnd: { code: number | null; wasFilled: boolean };
  before('a service that is stopped during the filling', async () => {
    service = await startTestService({ env });
    const code = await service.stop();
    firstEnd = { code, wasFilled: service.output().includes(FILLED) };
  });
  before('the next one, which completes it', async () => {
    service = await startTestService({ dataDir: service.dataDir, env });
    await eventually(() => service.output().includes(FILLED));
  });
  after(() => service.stop());

  const fleet = () => service.demo.fleet_project_id ?? '';

  it('fills a second project of the demo account with a week, and leaves the first one empty', async () => {
    const cookie = await demoCookie(service);
    const { projects } = await jsonOf<{ projects: unknown[] }>(call(service, '/v1/auth/me', { cookie }));
    const agents = await jsonOf<{ items: { version: number }[] }>(
      call(service, `/v1/projects/${fleet()}/agents`, { cookie }),
    );
    const totals = [
      await totalOf(service, 'summary', fleet()),
      await totalOf(service, 'llm-usage', fleet()),
      await totalOf(service, 'summary', service.project_id),
    ];

    expect(projects).to.deep.equal([
      { id: service.project_id, name: 'Demo' },
      { id: fleet(), name: 'Demo fleet' },
    ]);
    expect(agents.items.map(({ version }) => version)).to.deep.equal(Array(12).fill(2));
    expect(totals[0]).to.be.above(20_000);
    expect(totals[1]).to.be.above(5000);
    expect(totals[2]).to.equal(0);
  });

  it('has every decision of the fleet in its log, while the service that filled it runs', async () => {
    const total = await totalOf(service, 'summary', fleet());
    const { size } = await checkpointFrom({ ...service, project_id: fleet() }, total);

    expect(size).to.equal(total);
    expect(service.output()).not.to.include('Cannot write the log yet');
  });

  it('accepts no decision of the fleet a second time', async () => {
    const cookie = await demoCookie(service);
    const { key } = await issue(service, { cookie, project: { id: fleet(), name: '' } });
    const { items, total } = await readDecisions(service, { window: '7d', limit: '50' }, fleet());
    const again = items.map(({ event_id, occurred_at }) => decisionEvent({ event_id, occurred_at }));
    const { accepted, duplicates } = await batchOutcome(sendBatch(service, again, { key }));
    const after = await readDecisions(service, { window: '7d', limit: '50' }, fleet());

    expect([accepted, duplicates]).to.deep.equal([0, 50]);
    expect(after).to.deep.equal({ ...after, total, items });
  });

  it('stops cleanly during the filling, and completes at the next start without repeats', async () => {
    const total = await totalOf(service, 'summary', fleet());
    await service.stop();
    const rows = await runOnStore<{ n: string; events: string }>(
      service.dataDir,
      'SELECT toUInt32(count()) AS n, toUInt32(uniqExact(event_id)) AS events FROM decisions',
    );

    expect(firstEnd).to.deep.equal({ code: 0, wasFilled: false });
    expect(rows).to.deep.equal([{ n: total, events: total }]);
  });

  it('is created by one of several services that start at once on the same store', async () => {
    const server = await startClickHouse();
    const dataDirs = [temporaryDirectory(), temporaryDirectory()];
    const outputs = ['', ''];
    const children = dataDirs.map((dataDir, index) => {
      const child = spawnService({ dataDir, env: onServer(server, env) });
      child.stdout?.on('data', (chunk: Buffer) => (outputs[index] += chunk.toString()));
      return child;
    });
    const isRunning = (output: string) => output.includes('Gatehouse is listening');
    await eventually(() => outputs.every(isRunning) && outputs.some((output) => output.includes(FILLED)));
    const [row] = await server.query<{ n: string; events: string }>(
      'SELECT count() AS n, uniqExact(event_id) AS events FROM decisions',
    );
    for (const child of children) child.kill();
    await server.kill();

    expect(dataDirs.filter((dataDir) => existsSync(join(dataDir, 'demo.json')))).to.have.length(1);
    expect(Number(row?.n)).to.be.above(20_000);
    expect(row?.events).to.equal(row?.n);
  });

  it('reports how many decisions it wrote: as many as the reads count, and none is accepted again', async () => {
    const dataDir = await storeDirectory();
    const args = ['server/demo/fleet.ts', '--rows', '300', '--days', '2'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: environmentOf(dataDir, {}) });
    const [, said, projectId = ''] = /(\d+) decisions in .* project (\S+)/.exec(stdout) ?? [];
    const service = await startTestService({ dataDir });
    const total = await totalOf(service, 'summary', projectId);
    const { items } = await readDecisions(service, { window: '7d', limit: '1' }, projectId);
    await sendDecision(service, decisionEvent({ event_id: items[0]?.event_id }));
    const metrics = await readMetrics(service);
    await service.stop();

    expect([total > 200, said]).to.deep.equal([true, String(total)]);
    // The service uses the filter that the command left.
    expect(metrics.value('gate_ingest_decisions_total{result="duplicate"}')).to.equal(1);
  });
});
