ALTER TABLE decisions_rows ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS salt UUID CODEC(NONE),
    ADD COLUMN IF NOT EXISTS emitter UUID CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS sequence UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS dropped Nullable(UInt64) CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS flush UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS line String ALIAS concat(
        '{"event_id":"', toString(event_id), '"',
        ',"occurred_at":"', replaceOne(toString(occurred_at), ' ', 'T'), 'Z"',
        ',"agent_name":', toJSONString(agent_name),
        ',"tool_name":', toJSONString(tool_name),
        ',"outcome":"', toString(outcome), '"',
        ',"role":', toJSONString(role),
        ',"error_type":', toJSONString(error_type),
        ',"reason":', toJSONString(reason),
        ',"violations":', toJSONString(violations),
        ',"hint":', if(hint = '', 'null', hint),
        ',"arguments":', if(arguments = '', 'null', arguments),
        ',"user_id":', toJSONString(user_id),
        ',"session_id":', toJSONString(session_id),
        ',"project_id":', toJSONString(project_id),
        ',"agent_version_id":', toJSONString(agent_version_id),
        ',"received_at":"', replaceOne(toString(received_at), ' ', 'T'), 'Z"}'
    ),
    ADD COLUMN IF NOT EXISTS entry FixedString(32) ALIAS SHA256(concat(UUIDToNum(salt), line)),
    ADD INDEX IF NOT EXISTS of_flush flush TYPE minmax GRANULARITY 1;

CREATE OR REPLACE TABLE decisions ON CLUSTER 'fleet' AS decisions_rows
ENGINE = Distributed('fleet', 'gatehouse', 'decisions_rows', sipHash64(project_id, event_id));

ALTER TABLE llm_invocations_rows ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS emitter UUID CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS sequence UInt64 CODEC(LZ4),
    ADD COLUMN IF NOT EXISTS dropped Nullable(UInt64) CODEC(LZ4);

CREATE OR REPLACE TABLE llm_invocations ON CLUSTER 'fleet' AS llm_invocations_rows
ENGINE = Distributed('fleet', 'gatehouse', 'llm_invocations_rows', sipHash64(project_id, event_id));

CREATE TABLE IF NOT EXISTS log_chunks ON CLUSTER 'fleet'
(
    project_id LowCardinality(String),
    start UInt64 CODEC(Delta, ZSTD(1)),
    round UInt64 CODEC(Delta, ZSTD(1)),
    proposal UInt64 CODEC(NONE),
    entries_hex String EPHEMERAL,
    entries Array(FixedString(32)) DEFAULT arrayMap(digits -> toFixedString(unhex(digits), 32), arrayFilter(digits -> notEmpty(digits), splitByChar(' ', entries_hex))) CODEC(NONE),
    received_from DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    received_to DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    flushes Array(UInt64) CODEC(ZSTD(1)),
    proposed_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    committed_at DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(Delta, ZSTD(1)),
    INDEX of_round round TYPE minmax GRANULARITY 1,
    INDEX of_received_from received_from TYPE minmax GRANULARITY 1,
    INDEX of_received_to received_to TYPE minmax GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
PARTITION BY intDiv(round, 1000000)
ORDER BY (project_id, start, round)
SETTINGS
    index_granularity = 256,
    index_granularity_bytes = 1048576,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    min_parts_to_merge_at_once = 16,
    non_replicated_deduplication_window = 10000,
    replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS log_hashes ON CLUSTER 'fleet'
(
    project_id LowCardinality(String),
    level UInt8,
    idx UInt64 CODEC(Delta, ZSTD(1)),
    hash FixedString(32) CODEC(NONE)
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (project_id, level, idx)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
