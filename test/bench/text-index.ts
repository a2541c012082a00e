// The benefit of ClickHouse's text index for `q`, and its cost (docs/decisions/0034-no-text-index-yet.md). node test/bench/text-index.ts
// <data directory that server/demo/fleet.ts filled, without a service>. The store keeps the index.
import { join } from 'node:path';
import { connectEmbedded } from '../../server/store/connection.ts';
import { median } from './median.ts';

const INSERTS = 60;
const READS = 15;
const INSERTED_ROWS = 5000;
const COLUMNS = ['reason', 'arguments'];
const INDEXES = COLUMNS.map((name) => `ADD INDEX q_${name} lower(${name}) TYPE text(tokenizer = ngrams(3))`);
/** All in lower case. */
const WORDS = { rare: 'order 54321', common: 'may not use', none: 'zebra 99' };
const CONDITIONS = {
  without: `positionCaseInsensitiveUTF8(reason, {q: String}) > 0 OR positionCaseInsensitiveUTF8(arguments, {q: String}) > 0`,
  with: `lower(reason) LIKE concat('%', {q: String}, '%') OR lower(arguments) LIKE concat('%', {q: String}, '%')`,
};

const connection = connectEmbedded(join(process.argv[2] ?? '.', 'clickhouse'), {});

async function timeOf(work: Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work;
  return performance.now() - startMs;
}

async function measureWrites(): Promise<void> {
  const tables = ['plain', 'indexed'];
  for (const table of tables) {
    await connection.command(`CREATE OR REPLACE TABLE ${table} AS decisions`);
    await connection.command(`SYSTEM STOP MERGES ${table}`);
  }
  await connection.command(`ALTER TABLE indexed ${INDEXES.join(', ')}`);
  await connection.command(
    `CREATE OR REPLACE TABLE source ENGINE = Memory AS SELECT * FROM decisions WHERE toDate(occurred_at) = today() - 7 LIMIT ${INSERTED_ROWS}`,
  );
  const times = new Map(tables.map((table) => [table, [] as number[]]));
  for (let index = 0; index < INSERTS; index += 1)
    for (const table of index % 2 === 0 ? tables : tables.toReversed()) {
      const insert = `INSERT INTO ${table} SELECT * REPLACE (generateUUIDv4() AS event_id,
        concat('{"query":"order ', toString(rand() % 90000), '","limit":10,"dry_run":false}') AS arguments) FROM source`;
      times.get(table)?.push(await timeOf(connection.command(insert)));
    }
  for (const [table, list] of times) {
    await connection.command(`SYSTEM START MERGES ${table}`);
    const mergeMs = await timeOf(connection.command(`OPTIMIZE TABLE ${table} FINAL`));
    const rows = Math.round((INSERTED_ROWS * 1000) / median(list));
    console.log(`${table}: ${rows} rows/s inserted, merged in ${mergeMs.toFixed(0)} ms`);
  }
  for (const table of [...tables, 'source']) await connection.command(`DROP TABLE ${table}`);
}

async function addIndexes(): Promise<void> {
  await connection.command(`ALTER TABLE decisions ${INDEXES.join(', ')}`);
  for (const name of COLUMNS) {
    const materialize = `ALTER TABLE decisions MATERIALIZE INDEX q_${name} SETTINGS mutations_sync = 2`;
    console.log(`q_${name} built in ${(await timeOf(connection.command(materialize))).toFixed(0)} ms`);
  }
  console.log(
    await connection.query(`SELECT name, data_compressed_bytes / (SELECT count() FROM decisions) AS bytes_a_record
      FROM system.data_skipping_indices WHERE table = 'decisions' AND startsWith(name, 'q_')`),
  );
}

async function measureReads(days: number): Promise<void> {
  for (const [name, q] of Object.entries(WORDS)) {
    const times = { without: [] as number[], with: [] as number[] };
    for (let round = 0; round < READS; round += 1)
      for (const how of ['without', 'with'] as const) {
        const page = `SELECT event_id, occurred_at FROM decisions WHERE occurred_at >= now() - INTERVAL ${days} DAY
          AND (${CONDITIONS[how]}) ORDER BY occurred_at DESC, event_id LIMIT 50 SETTINGS use_skip_indexes = ${how === 'with' ? 1 : 0}`;
        times[how].push(await timeOf(connection.query(page, { q })));
      }
    const told = Object.entries(times).map(
      ([how, list]) => `${how} ${median(list).toFixed(0)} / ${Math.max(...list).toFixed(0)} ms`,
    );
    console.log(`${days} days, ${name}: ${told.join(', ')} (median / slowest of ${READS})`);
  }
}

await measureWrites();
await addIndexes();
for (const days of [7, 90]) await measureReads(days);
await connection.close();
