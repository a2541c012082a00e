import { expect } from 'chai';
import { sendDecision } from '../support/audit.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { startTestService, type TestService } from '../support/service.ts';

const RECORDS = 45;
// Each record takes 60 ms to read, so the statement takes 2.7 s; the engine lets no block sleep for more than 3.
const SLOW_COLUMN = "reason String ALIAS if(sleepEachRow(0.06) = 0, '', 'slow')";
const STOPPED_MS_MAX = 1000;

describe('a caller that disconnects during a read', () => {
  let server: ClickHouseServer;
  let service: TestService;
  before(async () => {
    server = await startClickHouse();
    service = await startTestService({ env: onServer(server) });
    await Promise.all(Array.from({ length: RECORDS }, () => sendDecision(service, decisionEvent())));
    // The entry of the log is made of the line, and the line of all columns.
    const drops = ['entry', 'line', 'reason'].map((column) => `DROP COLUMN ${column}`);
    for (const change of [...drops, `ADD COLUMN ${SLOW_COLUMN}`])
      await server.query(`ALTER TABLE decisions ${change}`);
  });
  after(async () => {
    await service.stop();
    await server.kill();
  });

  /** How many reads of records run in the store, those left out that were told to stop and sleep their last. */
  async function running(): Promise<number> {
    const [row] = await server.query<{ n: string }>(
      `SELECT count() AS n FROM system.processes WHERE NOT is_cancelled
       AND query LIKE '%reason%FROM decisions%' AND query NOT LIKE '%system.processes%'`,
    );
    return Number(row?.n);
  }

  for (const endpoint of ['decisions', 'decisions/export']) {
    it(`stops the statement of ${endpoint} in the store`, async () => {
      const gone = new AbortController();
      const path = `${service.url}/v1/projects/${service.project_id}/audit/${endpoint}`;
      const slow = fetch(path, { signal: gone.signal }).then(
        () => 'answered',
        () => 'left',
      );
      await eventually(async () => (await running()) > 0);
      const leftMs = performance.now();

      gone.abort();
      await eventually(async () => (await running()) === 0);

      expect(performance.now() - leftMs).to.be.below(STOPPED_MS_MAX);
      expect(await slow).to.equal('left');
    });
  }
});
