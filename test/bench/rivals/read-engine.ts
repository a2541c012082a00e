import { QUESTIONS } from '../read-questions.ts';
import { connectEmbedded, type QueryParams } from '../../../server/store/connection.ts';

// What the reads are measured against, on the engine itself, without HTTP and with every thread: the plain GROUP BY
// over the raw rows, the same with FINAL, and SELECT 1. Arguments: path of the store, project. Prints JSON.

const [path = '', project_id = ''] = process.argv.slice(2);
const ROUNDS = 9;
const DAYS = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 };
const connection = connectEmbedded(path, {});

const COUNTS =
  "count(), countIf(outcome = 'allow'), countIf(outcome = 'deny'), countIf(outcome = 'needs_approval')";
const WHERE = "WHERE project_id = {project_id: String} AND occurred_at >= {since: DateTime64(3, 'UTC')}";
const RAW = 'SETTINGS optimize_use_projections = 0, do_not_merge_across_partitions_select_final = 1';

function summary(table: string): string {
  return `SELECT agent_name, role, tool_name, ${COUNTS} FROM ${table} ${WHERE}
    GROUP BY GROUPING SETS ((), (agent_name), (role), (tool_name)) ${RAW}`;
}

function timeseries(table: string): string {
  return `SELECT toStartOfHour(occurred_at) AS hour, ${COUNTS} FROM ${table} ${WHERE} GROUP BY hour ${RAW}`;
}

/** Milliseconds of each round, sorted. */
async function measure(query: string, params: QueryParams = {}, rounds = ROUNDS): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const startMs = performance.now();
    await connection.query(query, params);
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b);
}

const measured: Record<string, number[]> = { 'SELECT 1': await measure('SELECT 1', {}, 200) };
for (const [window, days] of Object.entries(DAYS)) {
  const since = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 23).replace('T', ' ');
  for (const [name, make] of Object.entries({ summary, timeseries })) {
    measured[`${name} ${window} (b)`] = await measure(make('decisions'), { project_id, since });
    measured[`${name} ${window} (c)`] = await measure(make('decisions FINAL'), { project_id, since });
  }
}
for (const { path: asked, days, where = 'true', by = 'toStartOfHour(occurred_at)' } of QUESTIONS) {
  const table = asked.startsWith('llm') ? 'llm_invocations' : 'decisions';
  const since = new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 23).replace('T', ' ');
  const counts = table === 'decisions' ? COUNTS : 'count(), sum(input_tokens), sum(output_tokens)';
  const plain = asked.startsWith('summary')
    ? summary('decisions').replace('GROUP BY', () => `AND (${where}) GROUP BY`)
    : `SELECT ${by} AS value, ${counts} FROM ${table} ${WHERE} AND (${where}) GROUP BY value ${RAW}`;
  measured[asked] = await measure(plain, { project_id, since });
}
const [disk] =
  await connection.query(`SELECT sum(parts.rows) AS rows, sum(bytes_on_disk) AS disk, sum(data_uncompressed_bytes) AS raw
  FROM system.parts AS parts WHERE active AND table = 'decisions'`);
const projections = await connection.query(`SELECT name, sum(parts.rows) AS rows, sum(bytes_on_disk) AS disk
  FROM system.projection_parts AS parts WHERE active AND table = 'decisions' GROUP BY name ORDER BY name`);
console.log(JSON.stringify({ measured, disk, projections }));
process.exit(0);
