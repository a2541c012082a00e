import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

describe('services that start on a server', () => {
  let server: ClickHouseServer;
  before(async () => void (server = await startClickHouse()));
  after(() => server.kill());

  it('migrate the schema once when two start at once on an empty store', async () => {
    await server.query('CREATE DATABASE empty');
    const env = { GATE_CLICKHOUSE_URL: server.url.replace(/\w+$/, 'empty'), GATE_DEMO: '0' };

    const services = await Promise.all([startTestService({ env }), startTestService({ env })]);
    const applied = await server.query<{ version: number; n: string }>(
      'SELECT version, count() AS n FROM empty.schema_migrations GROUP BY version ORDER BY version',
    );
    const codes = await Promise.all(services.map((service) => service.stop()));

    expect(applied.filter(({ n }) => Number(n) !== 1)).to.deep.equal([]);
    expect(applied.length).to.be.above(3);
    expect(codes).to.deep.equal([0, 0]);
  });

  it('make the data directory for the demo where they need none, so that its key is not lost', async () => {
    const dataDir = join(temporaryDirectory(), 'not/yet');
    const env = onServer(server, { GATE_SIGNING_KEY: randomBytes(32).toString('base64') });

    const service = await startTestService({ dataDir, env });
    const told = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as object;
    await service.stop();

    expect(told).to.deep.equal(service.demo);
  });

  it('stop when the schema is newer than they are', async () => {
    await server.query("INSERT INTO schema_migrations (version, name) VALUES (9000, '9000_from_tomorrow')");

    const refused = await startTestService({ env: onServer(server, { GATE_DEMO: '0' }) }).then(
      () => 'started',
      (error: Error) => error.message,
    );

    expect(refused).to.match(/schema version 9000, but this Gatehouse knows only up to \d+/);
  });
});
