import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../server/config.ts';
import { connectServer } from '../../server/store/connection.ts';
import { createReadPool } from '../../server/store/read-pool.ts';
import { readDecisions, readSummary, sendDecision, timeFromNow } from '../support/audit.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, type Timeseries } from '../support/reads.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { DAY_MS } from '../../server/durations.ts';

const SLOW = 'SELECT count(sleepEachRow(0.1)) AS n FROM numbers(100) SETTINGS max_block_size = 1';

describe('the reads on a ClickHouse server', () => {
  let server: ClickHouseServer;
  let service: TestService;
  before(async () => {
    server = await startClickHouse();
    service = await startTestService({ env: { GATE_CLICKHOUSE_URL: server.url } });
    for (const days of [0, 0, 1, 3, 80])
      await sendDecision(service, decisionEvent({ occurred_at: timeFromNow(-days * DAY_MS - 1000) }));
  });
  after(async () => {
    await service.stop();
    await server.kill();
  });

  async function everything(): Promise<unknown> {
    const query = { window: '90d' };
    const { totals, by_tool } = await readSummary(service, query);
    const { buckets } = await askJson<Timeseries>(service, 'timeseries', { query });
    const { total, items } = await readDecisions(service, query);
    const { text } = await ask(service, 'decisions/export', { query });
    return { totals, by_tool, buckets: buckets.filter((bucket) => bucket.total > 0), total, items, text };
  }

  it('show a row once that another writer wrote again, before and after merges', async () => {
    const before = await everything();
    expect(before).to.have.property('total', 5);

    await server.query('SYSTEM STOP MERGES decisions');
    await server.query('INSERT INTO decisions SELECT * FROM decisions');
    const [stored] = await server.query<{ n: number | string }>('SELECT count() AS n FROM decisions');

    expect(Number(stored?.n)).to.equal(10);
    expect(await everything()).to.deep.equal(before);
    await server.query('SYSTEM START MERGES decisions');
    await server.query('OPTIMIZE TABLE decisions FINAL');
    expect(await everything()).to.deep.equal(before);
  });

  it('stop in the store when their caller disconnects', async () => {
    const { clickhouse } = readConfig({ GATE_CLICKHOUSE_URL: server.url });
    if (clickhouse === undefined) throw new Error('no server');
    const pool = createReadPool((settings) => connectServer(clickhouse, { settings, silenceMsMax: 15_000 }));
    const gone = new AbortController();
    const slow = pool.query(SLOW, {}, gone.signal).then(
      () => 'ran to its end',
      ({ code }: { code: string }) => code,
    );
    await sleep(500);

    const startMs = performance.now();
    gone.abort();

    expect(await slow).to.equal('overloaded');
    expect(performance.now() - startMs).to.be.below(2000);
    await pool.close();
  });
});
