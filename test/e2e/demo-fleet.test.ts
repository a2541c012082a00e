import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { call, jsonOf, demoCookie } from '../support/accounts.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { accepted, outcomeOf, readDecisions, sendDecision } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { checkpointFrom } from '../support/log.ts';
import { readMetrics } from '../support/metrics.ts';
import { eventually } from '../support/eventually.ts';
import { runOnStore } from '../support/engine.ts';
import { askJson } from '../support/reads.ts';
import {
  environmentOf,
  spawnService,
  startTestService,
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

const filled = (service: TestService) => eventually(() => service.output().includes(FILLED));

describe('the demo fleet of a service started with GATE_DEMO=1', () => {
  it('fills a second project of the demo account with a week, and leaves the first one empty', async () => {
    const service = await startTestService({ env });
    const { project_id, fleet_project_id = '' } = service.demo;
    await filled(service);
    const cookie = await demoCookie(service);
    const { projects } = await jsonOf<{ projects: unknown[] }>(call(service, '/v1/auth/me', { cookie }));
    const agents = await jsonOf<{ items: { version: number }[] }>(
      call(service, `/v1/projects/${fleet_project_id}/agents`, { cookie }),
    );
    const totals = [
      await totalOf(service, 'summary', fleet_project_id),
      await totalOf(service, 'llm-usage', fleet_project_id),
      await totalOf(service, 'summary', project_id),
    ];
    await service.stop();

    expect(projects).to.deep.equal([
      { id: project_id, name: 'Demo' },
      { id: fleet_project_id, name: 'Demo fleet' },
    ]);
    expect(agents.items.map(({ version }) => version)).to.deep.equal(Array(12).fill(2));
    expect(totals[0]).to.be.above(20_000);
    expect(totals[1]).to.be.above(5000);
    expect(totals[2]).to.equal(0);
  });

  it('has every decision of the fleet in its log, while the service that filled it runs', async () => {
    const service = await startTestService({ env });
    const project_id = service.demo.fleet_project_id ?? '';
    await filled(service);
    const total = await totalOf(service, 'summary', project_id);
    const { size } = await checkpointFrom({ ...service, project_id }, total);
    await service.stop();

    expect(size).to.equal(total);
    expect(service.output()).not.to.include('Cannot write the log yet');
  });

  it('takes no decision of the fleet a second time', async () => {
    const service = await startTestService({ env });
    const { fleet_project_id: projectId = '' } = service.demo;
    await filled(service);
    const cookie = await demoCookie(service);
    const keys = `/v1/projects/${projectId}/keys`;
    const made = call(service, keys, { cookie, method: 'POST', body: { name: 'again' } });
    const { key } = await jsonOf<{ key: string }>(made);
    const { items, total } = await readDecisions(service, { window: '7d', limit: '50' }, projectId);
    for (const { event_id, occurred_at } of items)
      expect(
        await outcomeOf(await sendDecision(service, decisionEvent({ event_id, occurred_at }), { key })),
      ).to.deep.equal(accepted);
    const metrics = await readMetrics(service);
    const after = await readDecisions(service, { window: '7d', limit: '50' }, projectId);
    await service.stop();

    const results = ['accepted', 'duplicate'].map((result) =>
      metrics.value(`gate_ingest_decisions_total{result="${result}"}`),
    );
    expect(results).to.deep.equal([0, 50]);
    expect(after).to.deep.equal({ ...after, total, items });
  });

  it('stops cleanly during the filling, and completes at the next start without repeats', async () => {
    const dataDir = temporaryDirectory();
    const first = await startTestService({ dataDir, env });
    const code = await first.stop();
    const wasFilled = first.output().includes(FILLED);
    const second = await startTestService({ dataDir, env });
    await filled(second);
    const total = await totalOf(second, 'summary', second.demo.fleet_project_id ?? '');
    await second.stop();
    const rows = await runOnStore<{ n: string; events: string }>(
      dataDir,
      'SELECT toUInt32(count()) AS n, toUInt32(uniqExact(event_id)) AS events FROM decisions',
    );

    expect([code, wasFilled]).to.deep.equal([0, false]);
    expect(rows).to.deep.equal([{ n: total, events: total }]);
  });

  it('is made by one of several services that start at once on the same store', async () => {
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

  it('says how many decisions it wrote: as many as the reads count, and none is taken again', async () => {
    const dataDir = temporaryDirectory();
    const args = ['server/demo/fleet.ts', '--rows', '2000', '--days', '3'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: environmentOf(dataDir, {}) });
    const [, said, projectId = ''] = /(\d+) decisions in .* project (\S+)/.exec(stdout) ?? [];
    const service = await startTestService({ dataDir });
    const total = await totalOf(service, 'summary', projectId);
    const { items } = await readDecisions(service, { window: '7d', limit: '1' }, projectId);
    await sendDecision(service, decisionEvent({ event_id: items[0]?.event_id }));
    const metrics = await readMetrics(service);
    await service.stop();

    expect([total > 1000, said]).to.deep.equal([true, String(total)]);
    // The service uses the filter that the command left.
    expect(metrics.value('gate_ingest_decisions_total{result="duplicate"}')).to.equal(1);
  });
});
