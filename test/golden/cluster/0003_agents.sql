CREATE TABLE IF NOT EXISTS agent_versions ON CLUSTER 'fleet'
(
    project_id String,
    agent_name String,
    version UInt32,
    created_at DateTime64(3, 'UTC'),
    agent_version_id String,
    agent_id String,
    created_by String,
    tools String CODEC(ZSTD(1)),
    agent_yaml String CODEC(ZSTD(1)),
    policy_yaml String CODEC(ZSTD(1)),
    system_md String CODEC(ZSTD(1)),
    bundle_wasm_b64 String CODEC(ZSTD(1)),
    bundle_manifest String CODEC(ZSTD(1)),
    bundle_signature_b64 String,
    etag String
)
ENGINE = ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')
ORDER BY (project_id, agent_name, version, created_at, agent_version_id)
SETTINGS
    fsync_after_insert = 1,
    fsync_part_directory = 1,
    min_rows_to_fsync_after_merge = 1,
    non_replicated_deduplication_window = 10000
