import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Engines, onCluster, ONE_NODE } from '../../server/store/engines.ts';
import { readMigrations, sql } from '../../server/store/sql.ts';
import { type ClickHouseServer, startClickHouse } from '../support/clickhouse-server/start.ts';

const GOLDEN = new URL('../golden/cluster/', import.meta.url);
const SHARDED = ['decisions', 'llm_invocations', 'event_identities'];
const engines = onCluster({ cluster: 'fleet', database: 'gatehouse' });

/** The statements for a cluster, by the file they come from. */
function statements({ render, everywhere }: Engines): Map<string, string[]> {
  const files = readMigrations().map(({ name, statements: some }): [string, string[]] => [
    name,
    some.flatMap(render),
  ]);
  return new Map([
    ['database', [everywhere('CREATE DATABASE IF NOT EXISTS gatehouse')]],
    ...files,
    ['lock', [everywhere('CREATE TABLE migration_lock (x UInt8) ENGINE = Memory')]],
    ['unlock', [everywhere('DROP TABLE IF EXISTS migration_lock SYNC')]],
    ['events_remove', [everywhere(sql('events_remove'))]],
  ]);
}

const textOf = (list: string[]) => `${list.map((statement) => statement.trim()).join(';\n\n')}\n`;

describe('the statements of a cluster', () => {
  let server: ClickHouseServer;
  before(async () => {
    server = await startClickHouse({ database: 'default', isEmpty: true });
  });
  after(() => server.kill());

  for (const [name, list] of statements(engines)) {
    it(`${name} matches its golden file (UPDATE_GOLDEN=1 writes it) and parses`, async () => {
      const file = new URL(`${name}.sql`, GOLDEN);
      if (process.env['UPDATE_GOLDEN'] === '1') {
        mkdirSync(GOLDEN, { recursive: true });
        writeFileSync(file, textOf(list));
      }

      expect(existsSync(file) ? readFileSync(file, 'utf8') : '').to.equal(textOf(list));
      for (const statement of list) {
        // Even a parser needs the values of parameters.
        const given = statement
          .replaceAll('{table: Identifier}', 'decisions')
          .replace(/\{day: Date\}/, "'2026-01-01'");
        const body = given.replaceAll(/\{\w+: Array\(\w+\)\}/g, '[]');
        expect((await server.query(`EXPLAIN AST ${body}`)).length).to.be.above(0);
      }
    });
  }

  it('every statement says ON CLUSTER, every table is replicated, the big ones are spread by their identity', () => {
    const all = [...statements(engines).values()].flat();
    const created = all.filter((statement) => statement.startsWith('CREATE TABLE IF NOT EXISTS'));
    const spread = all.filter((statement) => statement.includes('Distributed('));

    expect(all.filter((statement) => !statement.includes("ON CLUSTER 'fleet'"))).to.deep.equal([]);
    expect(
      created.filter((statement) => !/ENGINE = Replicated\w*MergeTree\('/.test(statement)),
    ).to.deep.equal([]);
    for (const table of SHARDED) {
      const over = spread.filter((statement) => statement.startsWith(`CREATE OR REPLACE TABLE ${table} `));
      expect(over.length).to.be.above(0);
      expect(
        over.filter((one) => !one.includes(`'${table}_rows', sipHash64(project_id, event_id))`)),
      ).to.deep.equal([]);
    }
    expect(all.filter((statement) => statement.includes('{engine'))).to.deep.equal([]);
  });

  it('one node gets the statements of the files, with their own engines', () => {
    const all = readMigrations().flatMap(({ statements: some }) => some.flatMap(ONE_NODE.render));

    expect(
      all.filter((statement) => /\{engine|ON CLUSTER|Replicated|Distributed/.test(statement)),
    ).to.deep.equal([]);
    expect(all.length).to.equal(readMigrations().flatMap(({ statements: some }) => some).length);
  });

  it('one identity has one shard, whatever else its rows say', async () => {
    const [row] = await server.query<{ shards: string }>(
      `SELECT uniqExact(sipHash64(project_id, event_id) % 2) AS shards FROM values(
         'project_id LowCardinality(String), event_id UUID, agent_name String',
         ('p', '0b9f3a4e-5f0c-4b86-8d3c-1b8f3f0f8a11', 'a'), ('p', '0b9f3a4e-5f0c-4b86-8d3c-1b8f3f0f8a11', 'b'))`,
    );

    expect(Number(row?.shards)).to.equal(1);
  });
});
