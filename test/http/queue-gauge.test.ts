import { expect } from 'chai';
import { sendDecision, tally } from '../support/audit.ts';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { decisionEvent } from '../support/events.ts';
import { eventually } from '../support/eventually.ts';
import { readMetrics } from '../support/metrics.ts';
import { startTestService, type TestService } from '../support/service.ts';

const QUEUE = 'gate_ingest_queue_rows';
const INSERT_MS = 800;

describe('gate_ingest_queue_rows', () => {
  let server: ClickHouseServer;
  let service: TestService;
  before(async () => {
    server = await startClickHouse();
    service = await startTestService({ env: onServer(server) });
  });
  after(async () => {
    await service.stop();
    await server.kill();
  });

  it('counts the waiting rows while inserts are slow, and is 0 when they are written', async () => {
    const queued = async () => (await readMetrics(service)).value(QUEUE);
    await server.fail({ on: 'insert', does: 'wait', ms: INSERT_MS, table: 'decisions' });

    // One after the other: those that come while an insert is on its way to the store wait for the next one.
    const writes: Promise<Response>[] = [];
    await eventually(async () => {
      writes.push(sendDecision(service, decisionEvent()));
      return (await queued()) > 0;
    });
    const answers = await Promise.all(writes);

    expect(tally(answers)).to.deep.equal({ '202': writes.length });
    expect(await queued()).to.equal(0);
  });
});
