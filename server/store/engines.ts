import type { ClickHouseSettings } from '@clickhouse/client';

/** Adapts statements to a topology: one node or a cluster. */
export type Engines = {
  /** Expands a migration statement for this topology. */
  render: (statement: string) => string[];
  /** Makes a statement run on every node. */
  everywhere: (statement: string) => string;
  /** The table that holds the rows, for statements that a Distributed table does not accept. */
  rowsOf: (table: string) => string;
  /** Settings of every statement. */
  settings: ClickHouseSettings;
};

/** Uses the engine named in the file. */
export const ONE_NODE: Engines = {
  render: (statement) => [statement.replace(ENGINE_TOKEN, '$1')],
  everywhere: (statement) => statement,
  rowsOf: (table) => table,
  settings: {},
};

/** These tables are spread over the shards; every node holds all rows of the others. */
const SHARDED = new Set(['decisions', 'llm_invocations', 'event_identities']);
/** All rows of an identity are on one shard, where ReplacingMergeTree and FINAL see them. */
const SHARDING_KEY = 'sipHash64(project_id, event_id)';

const ENGINE_TOKEN = /\{engine: ([^}]+)\}/g;

/**
 * Replicated tables on every node, and a Distributed table over each of the big ones. The macros {shard} and {replica}
 * come from the configuration of the nodes (compose.yaml has one).
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
    // The Distributed table holds no rows and is replaced whenever the columns change.
    return /^CREATE TABLE|\b(?:ADD|DROP|MODIFY) COLUMN\b/.test(body) ? [local, overShards(table)] : [local];
  };
  return { render, everywhere, rowsOf, settings: CLUSTER_SETTINGS };
}

/** The head of a statement, after which ON CLUSTER belongs. */
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
  return statement.replace(ENGINE_TOKEN, (_token, engine: string) => {
    const [, name = '', args] = /^(\w+)(?:\((.*)\))?$/.exec(engine) ?? [];
    return `Replicated${name}(${path}${args === undefined ? '' : `, ${args}`})`;
  });
}

const CLUSTER_SETTINGS: ClickHouseSettings = {
  // A 202 means that a majority of the replicas has the rows.
  insert_quorum: 'auto',
  distributed_foreground_insert: 1,
  // Each shard can answer an IN over identities alone, because an identity is on one shard.
  distributed_product_mode: 'local',
  distributed_ddl_task_timeout: '50',
};
