CREATE TABLE IF NOT EXISTS log_keys ON CLUSTER 'fleet'
(
    accepted_at DateTime64(3, 'UTC'),
    public_key String
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY accepted_at
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 100,
    replicated_deduplication_window = 100,
    replicated_deduplication_window_seconds = 604800;

CREATE TABLE IF NOT EXISTS log_cosignatures ON CLUSTER 'fleet'
(
    project_id LowCardinality(String),
    size UInt64,
    witness LowCardinality(String),
    cosigned_at DateTime64(3, 'UTC'),
    line String
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (project_id, size, witness)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
