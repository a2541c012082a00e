import type { ClickHouseSettings } from '@clickhouse/client';

/** What the statements of the migration files become: for one node the text as it is, for a cluster more. */
export type Engines = {
  /** The statements that a statement of a migration file stands for. */
  render: (statement: string) => string[];
  /** A statement that must reach every node. */
  everywhere: (statement: string) => string;
  /** Where the rows of a table are, for statements that a table over the shards does not take. */
  rowsOf: (table: string) => string;
  /** Settings of every statement. */
  settings: ClickHouseSettings;
};

/** The engine in the file is the engine itself. */
export const ONE_NODE: Engines = {
  render: (statement) => [statement.replace(ENGINE_TOKEN(), '$1')],
  everywhere: (statement) => statement,
  rowsOf: (table) => table,
  settings: {},
};

/** The big tables are spread over the shards; every other table is whole on every node. */
const SHARDED = new Set(['decisions', 'llm_invocations', 'event_identities']);
/** One identity is always on one shard: there ReplacingMergeTree and FINAL see all of its rows. */
const SHARDING_KEY = 'sipHash64(project_id, event_id)';

function ENGINE_TOKEN(): RegExp {
  return /\{engine: ([^}]+)\}/g;
}

/**
 * Replicated tables on every node, and over the big ones a table that spreads rows and collects answers. The macros
 * {shard} and {replica} are the nodes' own configuration (compose.yaml has one).
 */
export function onCluster({ cluster, database }: { cluster: string; database: string }): Engines {
  const everywhere = (statement: string) =>
    bodyOf(statement).replace(NAMED_OBJECT, (head) => `${head} ON CLUSTER '${cluster}'`);
  const overShards = (table: string) =>
    everywhere(
      `CREATE OR REPLACE TABLE ${table} AS ${rowsOf(table)}\n` +
        `ENGINE = Distributed('${cluster}', '${database}', '${rowsOf(table)}', ${SHARDING_KEY})`,
    );
  const render = (statement: string): string[] => {
    const body = bodyOf(statement);
    const table = tableOf(body);
    if (!SHARDED.has(table)) return [replicated(everywhere(body), WHOLE_PATH)];
    const local = replicated(everywhere(body.replace(table, rowsOf(table))), SHARD_PATH);
    // The table over the shards has no rows: it is made anew whenever the columns below it change.
    return /^CREATE TABLE|\b(?:ADD|DROP|MODIFY) COLUMN\b/.test(body) ? [local, overShards(table)] : [local];
  };
  return { render, everywhere, rowsOf, settings: CLUSTER_SETTINGS };
}

/** What a statement is about, where ON CLUSTER has its place behind. */
const NAMED_OBJECT =
  /^(?:CREATE (?:OR REPLACE )?(?:TABLE|DATABASE)(?: IF NOT EXISTS)?|DROP TABLE IF EXISTS|ALTER TABLE|DELETE FROM) (?:\w+|\{\w+: Identifier\})/;

/** The statement without the comments before it. */
function bodyOf(statement: string): string {
  return statement.replace(/^(?:\s*--.*\n|\s*\n)*/, '');
}

function tableOf(body: string): string {
  const name = /^(?:CREATE TABLE IF NOT EXISTS|ALTER TABLE) (\w+)/.exec(body)?.[1];
  if (name !== undefined) return name;
  throw new Error(
    `A migration may only say CREATE TABLE IF NOT EXISTS or ALTER TABLE, not: ${body.slice(0, 80)}`,
  );
}

function rowsOf(table: string): string {
  return SHARDED.has(table) ? `${table}_rows` : table;
}

const SHARD_PATH = "'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'";
const WHOLE_PATH = "'/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}'";

/** ReplacingMergeTree(version) becomes ReplicatedReplacingMergeTree(path, replica, version). */
function replicated(statement: string, path: string): string {
  return statement.replace(ENGINE_TOKEN(), (_token, engine: string) => {
    const [, name = '', args] = /^(\w+)(?:\((.*)\))?$/.exec(engine) ?? [];
    return `Replicated${name}(${path}${args === undefined ? '' : `, ${args}`})`;
  });
}

const CLUSTER_SETTINGS: ClickHouseSettings = {
  // A 202 is given when a majority of the replicas has the rows, and not when one of them has put them aside.
  insert_quorum: 'auto',
  distributed_foreground_insert: 1,
  // One identity is on one shard, so each shard answers an IN over identities by itself.
  distributed_product_mode: 'local',
  distributed_ddl_task_timeout: '50',
};
