import { expect } from 'chai';
import { readConfig } from '../../server/config.ts';
import { connectServer } from '../../server/store/connection.ts';
import { createReadPool } from '../../server/store/read-pool.ts';
import { readDecisions, readSummary, sendDecision, timeFromNow } from '../support/audit.ts';
import { decisionEvent } from '../support/events.ts';
import { ask, askJson, type Timeseries } from '../support/reads.ts';
import { DAY_MS } from '../../server/durations.ts';
import { eventually } from '../support/eventually.ts';
import { useServiceOnServer } from '../support/clickhouse-server/services.ts';

const SLOW = 'SELECT count(sleepEachRow(0.1)) AS n FROM numbers(100) SETTINGS max_block_size = 1';
const RECORDS = 40;
// Each record takes 60 ms to read, so the statement takes 2.5 s; the engine lets no block sleep for more than 3.
const SLOW_COLUMN = "reason String ALIAS if(sleepEachRow(0.06) = 0, '', 'slow')";
const READ = '%reason%FROM decisions%';
const STOPPED_MS_MAX = 1000;

describe('the reads on a ClickHouse server', () => {
  const { server, service } = useServiceOnServer();
  before(async () => {
    for (const days of [0, 0, 1, 3, 80])
      await sendDecision(service, decisionEvent({ occurred_at: timeFromNow(-days * DAY_MS - 1000) }));
  });

  /** How many statements like this run in the store, except those that were told to stop and are in their last sleep. */
  async function running(like: string): Promise<number> {
    const [row] = await server.query<{ n: string }>(
      `SELECT count() AS n FROM system.processes WHERE NOT is_cancelled
       AND query LIKE '${like}' AND query NOT LIKE '%system.processes%'`,
    );
    return Number(row?.n);
  }

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

  it('advise a shorter range when one needs more memory than the store allows', async () => {
    await server.fail({ on: 'other', table: 'decisions', does: 'fail', with: 'MEMORY_LIMIT_EXCEEDED' });

    const { status, text } = await ask(service, 'summary', { query: { window: '90d' } });
    await server.fail();

    const { code, detail } = JSON.parse(text) as { code: string; detail: string };
    expect([status, code]).to.deep.equal([503, 'store_unavailable']);
    expect(detail).to.contain('memory').and.contain('a shorter range or more filters');
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
    await eventually(async () => (await running('%sleepEachRow%')) > 0);

    const startMs = performance.now();
    gone.abort();

    expect(await slow).to.equal('overloaded');
    expect(performance.now() - startMs).to.be.below(2000);
    await pool.close();
  });

  describe('that take long', () => {
    before(async () => {
      await Promise.all(Array.from({ length: RECORDS }, () => sendDecision(service, decisionEvent())));
      // The entry of the log is computed from the line, and the line from all columns.
      const drops = ['entry', 'line', 'reason'].map((column) => `DROP COLUMN ${column}`);
      for (const change of [...drops, `ADD COLUMN ${SLOW_COLUMN}`])
        await server.query(`ALTER TABLE decisions ${change}`);
    });

    for (const endpoint of ['decisions', 'decisions/export']) {
      it(`stop in the store when the caller of ${endpoint} disconnects`, async () => {
        const gone = new AbortController();
        const path = `${service.url}/v1/projects/${service.project_id}/audit/${endpoint}`;
        const slow = fetch(path, { signal: gone.signal }).then(
          () => 'answered',
          () => 'left',
        );
        await eventually(async () => (await running(READ)) > 0);
        const leftMs = performance.now();

        gone.abort();
        await eventually(async () => (await running(READ)) === 0);

        expect(performance.now() - leftMs).to.be.below(STOPPED_MS_MAX);
        expect(await slow).to.equal('left');
      });
    }
  });
});
