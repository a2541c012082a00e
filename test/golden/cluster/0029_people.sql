ALTER TABLE accounts ON CLUSTER 'fleet'
    MODIFY COLUMN IF EXISTS change Enum8('registered' = 1, 'verified' = 2, 'password_set' = 3, 'password_changed' = 4);

ALTER TABLE sessions ON CLUSTER 'fleet'
    ADD COLUMN IF NOT EXISTS address String DEFAULT '',
    ADD COLUMN IF NOT EXISTS user_agent String DEFAULT '',
    ADD INDEX IF NOT EXISTS account_id_index account_id TYPE bloom_filter(0.01) GRANULARITY 1;

CREATE TABLE IF NOT EXISTS account_identities ON CLUSTER 'fleet'
(
    issuer String,
    subject String,
    account_id String,
    email_folded String,
    created_at DateTime64(3, 'UTC')
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (issuer, subject, created_at, account_id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000;

ALTER TABLE project_members ON CLUSTER 'fleet' ADD COLUMN IF NOT EXISTS by_group UInt8 DEFAULT 0
