CREATE TABLE IF NOT EXISTS root_key_successions ON CLUSTER 'fleet'
(
    kid String,
    previous_kid String,
    created_at DateTime64(3, 'UTC'),
    succession String,
    acknowledgement String,
    version UInt8
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}', version)
ORDER BY (previous_kid, kid)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE agent_versions ON CLUSTER 'fleet' ADD COLUMN IF NOT EXISTS signed_at DateTime64(3, 'UTC') DEFAULT created_at
