import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { runGate } from '../support/processes.ts';
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

  it('wait for the lock of a migration, and the command line says so', async () => {
    await server.query('CREATE DATABASE locked');
    await server.query('CREATE TABLE locked.migration_lock (x UInt8) ENGINE = Memory');
    const env = { GATE_CLICKHOUSE_URL: server.url.replace(/\w+$/, 'locked') };
    const args = ['project', 'create', '--name', 'first'];

    const { code, stderr } = await runGate({
      dataDir: temporaryDirectory(),
      args,
      env,
      onProgress: () => void server.query('DROP TABLE locked.migration_lock SYNC'),
    });

    expect(stderr).to.equal(
      'Another process is migrating the schema. If it was killed, this one continues after 60 seconds\n',
    );
    expect(code).to.equal(0);
  });

  it('create the data directory for the demo even if they need none, so that its key is not lost', async () => {
    const dataDir = join(temporaryDirectory(), 'not/yet');
    const env = onServer(server, { GATE_SIGNING_KEY: randomBytes(32).toString('base64') });

    const service = await startTestService({ dataDir, env });
    const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as object;
    await service.stop();

    expect(demo).to.deep.equal(service.demo);
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
