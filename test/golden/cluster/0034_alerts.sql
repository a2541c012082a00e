CREATE TABLE IF NOT EXISTS alert_settings ON CLUSTER 'fleet'
(
    project_id String,
    denials UInt8,
    new_names UInt8,
    silence UInt8,
    muted_until DateTime64(3, 'UTC'),
    webhook_url String,
    webhook_secret String,
    changed_by String,
    changed_at DateTime64(3, 'UTC'),
    version UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}', version)
ORDER BY project_id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS alerts ON CLUSTER 'fleet'
(
    project_id String,
    fired_at DateTime64(3, 'UTC'),
    alert_id UUID,
    rule Enum8('denials' = 1, 'new_names' = 2, 'silence' = 3),
    agent_name String,
    tool_name String,
    range_from DateTime64(3, 'UTC'),
    range_to DateTime64(3, 'UTC'),
    total UInt64,
    denied UInt64,
    usual_total UInt64,
    usual_denied UInt64,
    state Enum8('pending' = 1, 'sent' = 2, 'muted' = 3, 'failed' = 4),
    version UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}', version)
ORDER BY (project_id, fired_at, alert_id)
TTL toDateTime(fired_at) + INTERVAL 90 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS alert_rounds ON CLUSTER 'fleet'
(
    minute DateTime('UTC'),
    holder String
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (minute, holder)
TTL minute + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
