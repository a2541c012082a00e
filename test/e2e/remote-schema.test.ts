import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from '../support/clickhouse-server/services.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';
import { runGate } from '../support/processes.ts';
import { startTestService, temporaryDirectory } from '../support/service.ts';

const WAITING =
  'Another process is migrating the schema. If it was killed, this one continues after 60 seconds\n';

describe('services that start on a server', () => {
  let server: ClickHouseServer;
  before(async () => void (server = await startClickHouse()));
  after(() => server.kill());

  /** A new database that a process has begun to migrate. Resolves with the file of the lock. */
  async function lock(database: string): Promise<string> {
    await server.query(`CREATE DATABASE ${database}`);
    await server.query(`CREATE TABLE ${database}.schema_migrations AS gatehouse.schema_migrations`);
    await server.query(`CREATE TABLE ${database}.migration_lock (x UInt8) ENGINE = Memory`);
    const [row] = await server.query<{ path: string }>(
      `SELECT metadata_path AS path FROM system.tables WHERE database = '${database}' AND name = 'migration_lock'`,
    );
    return join(server.dataDir, row?.path ?? '');
  }

  /** Creates a project in the database. A process that waits for the lock gets it. */
  async function createProject(database: string) {
    const { code, stderr } = await runGate({
      dataDir: temporaryDirectory(),
      args: ['project', 'create', '--name', 'first'],
      env: { GATE_CLICKHOUSE_URL: server.url.replace(/\w+$/, database) },
      onProgress: () => void server.query(`DROP TABLE IF EXISTS ${database}.migration_lock SYNC`),
    });
    return { code, stderr };
  }

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
    await lock('locked');

    expect(await createProject('locked')).to.deep.equal({ code: 0, stderr: WAITING });
  });

  it('remove the lock of a process that was killed', async () => {
    utimesSync(await lock('killed'), 0, 0);

    expect(await createProject('killed')).to.deep.equal({ code: 0, stderr: '' });
  });

  it('wait for an old lock while its process applies migrations', async () => {
    utimesSync(await lock('slow'), 0, 0);
    await server.query("INSERT INTO slow.schema_migrations VALUES (0, '0000_slow', now())");

    expect(await createProject('slow')).to.deep.equal({ code: 0, stderr: WAITING });
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
