CREATE TABLE IF NOT EXISTS accounts ON CLUSTER 'fleet'
(
    email_folded String,
    account_id String,
    version UInt64,
    change Enum8('registered' = 1, 'verified' = 2, 'password_set' = 3),
    created_at DateTime64(3, 'UTC'),
    email String,
    password_hash String,
    session_epoch String,
    INDEX account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (email_folded, account_id, version)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS sessions ON CLUSTER 'fleet'
(
    session_hash String,
    account_id String,
    email_folded String,
    session_epoch String,
    created_at DateTime64(3, 'UTC'),
    seen_at DateTime64(3, 'UTC'),
    is_ended UInt8,
    version UInt64
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}', version)
ORDER BY session_hash
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS mailed_tokens ON CLUSTER 'fleet'
(
    token_hash String,
    kind Enum8('verify' = 1, 'reset' = 2),
    account_id String,
    email_folded String,
    session_epoch String,
    created_at DateTime64(3, 'UTC'),
    expires_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY token_hash
TTL toDateTime(created_at) + INTERVAL 30 DAY
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS mailed_token_uses ON CLUSTER 'fleet'
(
    token_hash String,
    used_at DateTime64(3, 'UTC'),
    use_id String
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (token_hash, used_at, use_id)
TTL toDateTime(used_at) + INTERVAL 60 DAY
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

ALTER TABLE projects ON CLUSTER 'fleet' ADD COLUMN IF NOT EXISTS owner_id String DEFAULT '';

ALTER TABLE projects ON CLUSTER 'fleet' ADD COLUMN IF NOT EXISTS name_folded String DEFAULT '';

ALTER TABLE projects ON CLUSTER 'fleet' MODIFY SETTING non_replicated_deduplication_window = 1000;

CREATE TABLE IF NOT EXISTS project_members ON CLUSTER 'fleet'
(
    account_id String,
    project_id String,
    is_member UInt8,
    changed_by String,
    changed_at DateTime64(3, 'UTC'),
    version UInt64,
    INDEX project_id_index project_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}', version)
ORDER BY (account_id, project_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

CREATE TABLE IF NOT EXISTS activity ON CLUSTER 'fleet'
(
    activity_id UUID,
    occurred_at DateTime64(3, 'UTC'),
    project_id String,
    account_id String,
    email String,
    key_id String,
    address String,
    event LowCardinality(String),
    detail String CODEC(ZSTD(1)),
    INDEX account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (project_id, occurred_at, activity_id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1
