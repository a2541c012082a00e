-- The two kinds of events, each written once and never changed, and the index of their identities.
--
-- The service looks up an identity (project_id, event_id) before it writes. If a row is written twice nevertheless,
-- ReplacingMergeTree keeps the row received first, because `version` counts down with received_at.
--
-- fsync_*: a row is on disk before its caller gets 202. min_rows_to_fsync_after_merge: merged parts are on disk, too.
-- min_parts_to_merge_at_once, with min_age_to_force_merge_seconds: group commit makes many small parts; merging them
-- by the dozen instead of two or three at a time saves processor time on every insert.
-- index_granularity, min_compress_block_size: a page of decisions takes single rows out of many places, and each of them
-- costs a block of every column. With 2,048 rows and 16 KB, a quarter of the defaults, a page of a rare user takes half
-- the time, and a record takes 2 bytes more.

CREATE TABLE IF NOT EXISTS decisions
(
    project_id LowCardinality(String),
    event_id UUID,
    occurred_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    agent_name LowCardinality(String),
    agent_version_id LowCardinality(String) DEFAULT '',
    tool_name LowCardinality(String),
    outcome Enum8('allow' = 1, 'deny' = 2, 'needs_approval' = 3),
    role LowCardinality(String) DEFAULT '',
    error_type LowCardinality(String) DEFAULT '',
    reason String DEFAULT '' CODEC(ZSTD(1)),
    violations Array(String) CODEC(ZSTD(1)),
    hint String DEFAULT '' CODEC(ZSTD(1)),
    arguments String DEFAULT '' CODEC(ZSTD(1)),
    user_id String DEFAULT '' CODEC(ZSTD(1)),
    session_id String DEFAULT '' CODEC(ZSTD(1)),
    version UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = {engine: ReplacingMergeTree(version)}
PARTITION BY toDate(occurred_at)
ORDER BY (project_id, agent_name, outcome, occurred_at, event_id)
TTL toDateTime(occurred_at) + INTERVAL 90 DAY
SETTINGS
    index_granularity = 2048,
    min_compress_block_size = 16384,
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000,
    min_parts_to_merge_at_once = 16,
    min_age_to_force_merge_seconds = 600,
    min_age_to_force_merge_on_partition_only = 1,
    ratio_of_defaults_for_sparse_serialization = 1,
    write_marks_for_substreams_in_compact_parts = 0;

CREATE TABLE IF NOT EXISTS llm_invocations
(
    project_id LowCardinality(String),
    event_id UUID,
    occurred_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    agent_name LowCardinality(String),
    agent_version_id LowCardinality(String) DEFAULT '',
    model LowCardinality(String),
    provider LowCardinality(String) DEFAULT '',
    operation LowCardinality(String) DEFAULT 'chat',
    input_tokens UInt64,
    output_tokens UInt64,
    cached_input_tokens UInt64,
    reasoning_tokens UInt64,
    duration_ms UInt64,
    cost_usd Nullable(Float64),
    finish_reason LowCardinality(String) DEFAULT '',
    error_type LowCardinality(String) DEFAULT '',
    role LowCardinality(String) DEFAULT '',
    user_id String DEFAULT '' CODEC(ZSTD(1)),
    session_id String DEFAULT '' CODEC(ZSTD(1)),
    version UInt64 CODEC(Delta, ZSTD(1))
)
ENGINE = {engine: ReplacingMergeTree(version)}
PARTITION BY toDate(occurred_at)
ORDER BY (project_id, agent_name, model, occurred_at, event_id)
TTL toDateTime(occurred_at) + INTERVAL 90 DAY
SETTINGS
    ttl_only_drop_parts = 1,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 1000,
    min_parts_to_merge_at_once = 16,
    min_age_to_force_merge_seconds = 600,
    min_age_to_force_merge_on_partition_only = 1,
    ratio_of_defaults_for_sparse_serialization = 1,
    write_marks_for_substreams_in_compact_parts = 0;

-- The identities that are taken. Written a moment after the event itself, in larger batches. After a crash, the next
-- start adds the missing ones from the event tables. The small granules and blocks make the lookup of a random id cheap.
CREATE TABLE IF NOT EXISTS event_identities
(
    stream Enum8('decisions' = 1, 'llm_invocations' = 2),
    project_id LowCardinality(String),
    event_id UUID,
    occurred_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = {engine: ReplacingMergeTree}
ORDER BY (stream, project_id, event_id)
TTL toDateTime(occurred_at) + INTERVAL 90 DAY
SETTINGS
    index_granularity = 256,
    min_compress_block_size = 8192,
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    merge_with_ttl_timeout = 86400
