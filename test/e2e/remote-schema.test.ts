import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../support/clickhouse-server/services.ts';
import { startClickHouse } from '../support/clickhouse-server/start.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

describe('the schema with several services', () => {
  it('is migrated once by two services that start at once on an empty store', async () => {
    const server = await startClickHouse({ isEmpty: true });
    const env = onServer(server, { GATE_DEMO: '0' });

    const services = await Promise.all([startTestService({ env }), startTestService({ env })]);
    const applied = await server.query<{ version: number; n: string }>(
      'SELECT version, count() AS n FROM schema_migrations GROUP BY version ORDER BY version',
    );
    const codes = await Promise.all(services.map((service) => service.stop()));
    await server.kill();

    expect(applied.filter(({ n }) => Number(n) !== 1)).to.deep.equal([]);
    expect(applied.length).to.be.above(3);
    expect(codes).to.deep.equal([0, 0]);
  });

  it('stops the start when it is newer than the service', async () => {
    const server = await startClickHouse({ isEmpty: true });
    const env = onServer(server, { GATE_DEMO: '0' });
    await (await startTestService({ env })).stop();
    await server.query("INSERT INTO schema_migrations (version, name) VALUES (9000, '9000_from_tomorrow')");

    const dataDir = temporaryDirectory();
    const refused = await startTestService({ dataDir, env }).then(
      () => 'started',
      (error: Error) => error.message,
    );
    await server.kill();

    expect(refused).to.match(/schema version 9000, but this Gatehouse knows only up to \d+/);
  });
});

describe('the demo of a service that needs no data directory', () => {
  it('creates the directory, so that its key is not lost', async () => {
    const server = await startClickHouse({ isEmpty: true });
    const dataDir = join(temporaryDirectory(), 'not/yet');
    const env = onServer(server, { GATE_SIGNING_KEY: randomBytes(32).toString('base64') });

    const service = await startTestService({ dataDir, env });
    const told = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as object;
    await service.stop();
    await server.kill();

    expect(told).to.deep.equal(service.demo);
  });
});
